// SPDX-License-Identifier: MIT
// From the files of HIPSIM_FINDINGS to findings, one of each kind.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/demangle.h"
#include "nw/check/check.h"
#include "nw/code_object.h"

namespace nw::cli {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string CheckPlace::source() const {
    return frames.empty() ? place : fmt::format("{}:{}", frames[0].file, frames[0].line);
}

std::string rule_id(const CheckFinding &f) {
    return f.rule.empty() || f.rule == f.check ? f.check : f.check + "." + f.rule;
}

namespace {

// "_Z5saxpyPfi + 0x40"
std::string demangled_place(const std::string &place) {
    const size_t end = std::min(place.find(' '), place.size());
    return demangled(place.substr(0, end)) + place.substr(end);
}

std::vector<u32> triple(const Json &from, const char *key) {
    const auto at = from.find(key);
    return at == from.end() || !at->is_array() ? std::vector<u32>{} : at->get<std::vector<u32>>();
}

CheckPlace place_of(const Json &from, const std::string &code) {
    CheckPlace out;
    out.place = demangled_place(from.value("place", ""));
    out.instruction = from.value("instruction", "");
    out.workgroup = triple(from, "workgroup");
    out.wave = from.value("wave", 0u);
    const u64 address = from.value("linked_pc", u64{0});
    if (!code.empty())
        out.frames = source_frames(code, address);
    return out;
}

// Keeps frames with lines and those between; if none has a line, the innermost, which call HIP.
void keep_known(HostFrames &frames) {
    constexpr size_t unknown = 4;
    const auto has_line = [](const SourceFrame &f) { return f.line != 0; };
    const auto last = std::find_if(frames.rbegin(), frames.rend(), has_line);
    const auto kept = static_cast<size_t>(frames.rend() - last);
    frames.resize(kept ? kept : std::min(frames.size(), unknown));
}

// Frames without a line are named by their symbol, or as far as they are known.
HostFrames host_frames(const Json &from, const char *key) {
    HostFrames out;
    const auto at = from.find(key);
    if (at == from.end() || !at->is_array())
        return out;
    for (const Json &frame : *at) {
        const std::string module = frame.value("module", ""), symbol = frame.value("symbol", "");
        const u64 address = frame.value("address", u64{0});
        auto lines = source_frames(module, address);
        if (lines.empty())
            lines.push_back({symbol.empty() ? fmt::format("0x{:x}", address) : demangled(symbol),
                             module, 0, 0});
        out.insert(out.end(), lines.begin(), lines.end());
        if (lines.back().function == "main")
            break; // the C library's frames follow
    }
    keep_known(out);
    return out;
}

// As compute-sanitizer says it.
std::string title_of(const Json &line) {
    const std::string rule = line.value("rule", ""), check = line.value("check", "");
    const std::string access = line.value("access", ""), space = line.value("space", "");
    const u64 bytes = line.value("bytes", u64{0});
    if (check == "mem" && bytes) {
        const std::string where = space == "lds"       ? "__shared__ (LDS)"
                                  : space == "scratch" ? "scratch"
                                                       : "__global__";
        return rule == "misaligned"
                   ? fmt::format("Misaligned {} {} of size {} bytes", where, access, bytes)
                   : fmt::format("Invalid {} {} of size {} bytes", where, access, bytes);
    }
    if (check == "leak")
        return bytes ? fmt::format("Leaked {} bytes at exit", bytes)
                     : fmt::format("Leaked {} at exit", rule);
    return check == "init"   ? "Uninitialized value"
           : check == "race" ? "Race"
           : check == "wait" ? "Missing wait or hazard"
           : check == "mem"  ? "Invalid memory access"
                             : "Fault of the kernel";
}

CheckFinding finding_of(const Json &line) {
    CheckFinding out;
    out.check = line.value("check", "");
    out.rule = line.value("rule", "");
    out.kernel = demangled(line.value("kernel", ""));
    out.title = title_of(line);
    out.message = line.value("message", "");
    if (const auto at = line.find("address"); at != line.end() && at->is_string())
        out.address = at->get<std::string>();
    out.allocation = line.value("allocation", "");
    out.listing = line.value("listing", "");
    out.gfx = line.value("gfx", "");
    const std::string code = line.value("code", "");
    out.at = place_of(line, code);
    if (const auto at = line.find("other"); at != line.end() && at->is_object())
        out.other = place_of(*at, code);
    if (const auto at = line.find("lane"); at != line.end() && at->is_number())
        out.lane = at->get<int>();
    out.thread = triple(line, "thread");
    out.grid = triple(line, "grid");
    out.block = triple(line, "block");
    out.first_launch = line.value("launch", u64{0});
    out.launched = host_frames(line, "host");
    out.maker = line.value("maker", "");
    if (const auto made = line.find("made"); made != line.end() && made->is_object()) {
        out.maker = made->value("by", "");
        out.made_after = made->value("launches", u64{0});
        out.made = host_frames(*made, "host");
    }
    return out;
}

std::vector<fs::path> files_of(const std::string &folder, std::string_view extension) {
    std::vector<fs::path> out;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder))
        if (entry.path().extension() == extension)
            out.push_back(entry.path());
    return out;
}

// The lines of a process's file; damaged ones are left out.
std::vector<Json> lines_of(const fs::path &file) {
    std::vector<Json> out;
    std::istringstream in(read_text(file.string()));
    for (std::string text; std::getline(in, text);)
        if (Json line = Json::parse(text, nullptr, false); line.is_object())
            out.push_back(std::move(line));
    return out;
}

// The lines of each process's file, in the order in which the processes began.
std::vector<std::vector<Json>> processes_of(const std::string &folder) {
    std::vector<std::vector<Json>> out;
    for (const fs::path &file : files_of(folder, ".findings"))
        if (auto lines = lines_of(file); !lines.empty())
            out.push_back(std::move(lines));
    std::ranges::sort(
        out, {}, [](const std::vector<Json> &lines) { return lines[0].value("started", u64{0}); });
    return out;
}

std::string text_of(const HostFrames &frames) {
    std::string out;
    for (const SourceFrame &f : frames)
        out += fmt::format("\n{} {}:{}", f.function, f.file, f.line);
    return out;
}

class Gathering {
public:
    explicit Gathering(CheckResult &result) : result_(result) {}

    void add_process(const std::vector<Json> &lines) {
        std::map<u64, size_t> kinds; // of this process: indices of findings
        const std::string program = lines[0].value("program", "");
        const u64 process = lines[0].value("process", u64{0});
        for (const Json &line : lines) {
            const u64 kind = line.value("kind", ~u64{0});
            auto at = kinds.find(kind);
            if (line.contains("check"))
                at = kinds.insert_or_assign(kind, add(line, program, process)).first;
            if (at == kinds.end())
                continue;
            CheckFinding &finding = result_.findings[at->second];
            finding.count += line.value("count", u64{1});
            ++finding.launches;
            finding.ended |= line.value("ended", false);
        }
    }

private:
    size_t add(const Json &line, const std::string &program, u64 process) {
        CheckFinding fresh = finding_of(line);
        // Repeated leaks at one place in the program are one finding.
        const std::string key =
            fmt::format("{}\n{}\n{}\n{}\n{}", fresh.check, fresh.rule, fresh.kernel, fresh.at.place,
                        fresh.other ? fresh.other->place : "") +
            (fresh.check == "leak" ? fresh.title + text_of(fresh.made) : "");
        const auto [at, is_new] = known_.try_emplace(key, result_.findings.size());
        if (is_new) {
            fresh.program = program;
            fresh.process = process;
            result_.findings.push_back(std::move(fresh));
        }
        return at->second;
    }

    CheckResult &result_;
    std::map<std::string, size_t> known_;
};

} // namespace

CheckResult gather_findings(const std::string &folder) {
    CheckResult out;
    out.loaded = files_of(folder, ".loaded").size();
    for (const fs::path &file : files_of(folder, ".forked"))
        out.forked.push_back(read_text(file.string()));
    for (const fs::path &file : files_of(folder, ".launches")) {
        u64 launches = 0, checked = 0;
        std::istringstream(read_text(file.string())) >> launches >> checked;
        out.launches += launches;
        out.checked += checked;
    }
    Gathering gathering(out);
    for (const std::vector<Json> &lines : processes_of(folder))
        gathering.add_process(lines);
    return out;
}

} // namespace nw::cli
