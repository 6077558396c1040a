// SPDX-License-Identifier: MIT
#include "sim/timing/files/annotate.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>

#include "sim/timing/files/listing.h"

namespace nw::sim::timing {

namespace {

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

class Annotator {
public:
    Annotator(const Dispatch &d, const Result &r, const FindSource &find)
        : dispatch_(d), result_(r), find_(find), listing_(d),
          code_(d.program->code(d.kernel->wave_size)), line_of_(listing_.size()) {}

    Annotation make() {
        for (u32 n = 0; n < listing_.size(); ++n)
            if (belongs(n))
                by_file_[source_of(n).file].push_back(n);
        // Files in execution order.
        std::vector<std::pair<u32, std::string>> files;
        for (const auto &[file, instructions] : by_file_)
            files.emplace_back(instructions.front(), file);
        std::sort(files.begin(), files.end());
        for (const auto &[first, file] : files)
            add_file(file, by_file_[file]);
        for (u32 n = 0; n < listing_.size(); ++n)
            if (belongs(n))
                find_branch(n);
        find_loops();
        for (u32 n = 0; n < listing_.size(); ++n)
            if (belongs(n) && n < result_.lines.size())
                charge(n);
        return std::move(made_);
    }

private:
    // True for the kernel's own code, and for code that it executed elsewhere.
    bool belongs(u32 n) const {
        if (n < result_.lines.size() && result_.lines[n].issued)
            return true;
        const u64 at = code_.base + code_.instructions[n].offset;
        const Global *function = dispatch_.program->function_at(dispatch_.kernel->entry);
        return function && at >= function->address && at < function->address + function->size;
    }

    // The file is "" if its text isn't available.
    SourcePlace source_of(u32 n) {
        SourcePlace place = place_of(listing_.source_line(n));
        const auto [known, fresh] = sources_.try_emplace(place.file);
        if (fresh && !place.file.empty())
            if (const auto text = find_(place.file))
                known->second = lines_of(*text);
        if (place.line == 0 || place.line > known->second.size())
            return {};
        return place;
    }

    void add_file(const std::string &file, const std::vector<u32> &instructions) {
        const size_t first = made_.lines.size();
        if (file.empty()) {
            for (u32 n : instructions) {
                made_.lines.push_back({listing_.text(n), listing_.pc_text(n)});
                add(n, made_.lines.size() - 1);
            }
        } else {
            add_source(file, instructions);
        }
        if (first < made_.lines.size())
            made_.lines[first].file = file.empty() ? "disassembly" : file;
    }

    // Lists the range from the first to the last line with an instruction.
    void add_source(const std::string &file, const std::vector<u32> &instructions) {
        size_t low = ~size_t{0}, high = 0;
        for (u32 n : instructions) {
            const size_t line = source_of(n).line;
            low = std::min(low, line);
            high = std::max(high, line);
        }
        const auto &text = sources_[file];
        while (low > 1 && text[low - 2].ends_with(':')) // include the preceding label
            --low;
        const size_t first = made_.lines.size();
        for (size_t line = low; line <= high; ++line)
            made_.lines.push_back({text[line - 1], std::to_string(line)});
        for (u32 n : instructions)
            add(n, first + source_of(n).line - low);
    }

    void add(u32 n, size_t line) {
        AnnotatedLine &to = made_.lines[line];
        to.instructions.push_back(n);
        line_of_[n] = line;
    }

    void charge(u32 n) {
        const LineCost &cost = result_.lines[n];
        made_.lines[line_of_[n]].issued += cost.issued;
        made_.total.issued += cost.issued;
        for (size_t s = 0; s < cost.stalls.size(); ++s)
            for (AnnotatedLine *sum :
                 {&made_.lines[line_of_[cause(n, static_cast<Stall>(s))]], &made_.total}) {
                sum->stalls[s] += cost.stalls[s];
                sum->lost += cost.stalls[s];
            }
    }

    // The model charges a wait to the instruction that waited. Readers expect it at a preceding
    // barrier, s_nop or branch; with several predecessors it stays.
    u32 cause(u32 n, Stall why) const {
        const auto before = [&](std::string_view mnemonic) {
            return n && belongs(n - 1) && code_.instructions[n - 1].x.mnemonic == mnemonic;
        };
        if (why == Stall::barrier && before("s_barrier"))
            return n - 1;
        if (why == Stall::nop && (before("s_nop") || before("s_sleep")))
            return n - 1;
        const auto branches = branches_to_.find(n);
        if (why == Stall::branch && branches != branches_to_.end() && branches->second.size() == 1)
            return branches->second.front();
        return n;
    }

    // Records the branch target, and whether execution can fall through.
    void find_branch(u32 n) {
        const Instruction &i = code_.instructions[n];
        const bool conditional = i.x.mnemonic.starts_with("s_cbranch_");
        if (!conditional && i.x.mnemonic != "s_branch")
            return;
        const i64 target = i64{i.offset} + i.size + 4 * i64{i.simm16()};
        if (conditional)
            branches_to_[n + 1].push_back(n);
        const u32 to = target < 0 ? Code::none : code_.find(code_.base + static_cast<u64>(target));
        if (to == Code::none || !belongs(to))
            return;
        branches_to_[to].push_back(n);
        if (to <= n && line_of_[to] <= line_of_[n])
            made_.loops.push_back({line_of_[to], line_of_[n], 0});
    }

    void find_loops() {
        std::vector<Loop> &loops = made_.loops;
        std::sort(loops.begin(), loops.end(), [](const Loop &a, const Loop &b) {
            return a.first != b.first ? a.first < b.first : a.last > b.last;
        });
        for (size_t n = 0; n < loops.size(); ++n)
            for (size_t outer = 0; outer < n; ++outer)
                if (loops[outer].last >= loops[n].first)
                    loops[n].depth = std::max(loops[n].depth, loops[outer].depth + 1);
    }

    const Dispatch &dispatch_;
    const Result &result_;
    const FindSource &find_;
    const Listing listing_;
    const Code &code_;
    std::map<std::string, std::vector<std::string>> sources_; // lines; none: not found
    std::map<std::string, std::vector<u32>> by_file_;
    std::vector<size_t> line_of_; // by instruction index
    std::map<u32, std::vector<u32>> branches_to_;
    Annotation made_;
};

} // namespace

std::vector<std::pair<Stall, u64>> AnnotatedLine::reasons() const {
    std::vector<std::pair<Stall, u64>> all;
    for (size_t n = 0; n < stalls.size(); ++n)
        if (stalls[n])
            all.emplace_back(static_cast<Stall>(n), stalls[n]);
    std::stable_sort(all.begin(), all.end(),
                     [](const auto &a, const auto &b) { return a.second > b.second; });
    return all;
}

std::vector<size_t> Annotation::worst(size_t most) const {
    std::vector<size_t> order(lines.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::erase_if(order, [&](size_t n) { return lines[n].cycles() == 0; });
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return lines[a].cycles() > lines[b].cycles(); });
    order.resize(std::min(order.size(), most));
    return order;
}

Annotation annotate(const Dispatch &d, const Result &r, const FindSource &find) {
    return Annotator(d, r, find).make();
}

} // namespace nw::sim::timing
