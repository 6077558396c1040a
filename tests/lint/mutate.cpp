// SPDX-License-Identifier: MIT
// The lint's findings for kernels with one bug each (mutants.h), as one JSON line per kernel:
//   nw_mutate [--sample N --seed S] FILE...
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>

#include "base/command_line.h"
#include "base/error.h"
#include "base/parallel.h"
#include "lint/lint.h"
#include "lint/mutants.h"
#include "lint/proof.h"
#include "sim/isa/image/elf.h"

namespace nw::lint::test {

namespace {

using Json = nlohmann::ordered_json;
using namespace sim;

std::vector<char> read(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::vector<char> bytes(std::istreambuf_iterator<char>(in), {});
    if (!in || bytes.empty())
        throw Error(fmt::format("{}: can't be read, or is empty", path));
    return bytes;
}

// Errors of a kernel, with multiplicity.
using Errors = std::multiset<std::tuple<Rule, u32, u32>>;

class Kernel {
public:
    Kernel(const Program &program, const KernelInfo &kernel, const Elf &elf)
        : program_(program), kernel_(kernel), elf_(elf),
          // Nobody else has it, and it is as it was when a mutant is done with.
          code_(const_cast<Code &>(program.code(kernel.wave_size))),
          gfx12_(program.gfx().starts_with("gfx12")), entry_(code_.find(kernel.entry)) {}

    // All mutants, or `sample` of them.
    Json judge(u32 sample, u64 seed) {
        std::vector<Mutant> mutants = mutants_of(Flow(code_, entry_), program_.gfx());
        const size_t all = mutants.size();
        const std::string variant = variant_of(mutants);
        if (sample && sample < all) {
            std::mt19937_64 random(seed);
            std::ranges::shuffle(mutants, random);
            mutants.resize(sample);
        }
        errors_ = errors();
        for (const Finding &f : lint::lint(program_, kernel_, true))
            if (info(f.rule).severity == Severity::note)
                notes_.emplace(f.instruction, f.rule);
        touches_ = touches_in_flight(Flow(code_, entry_), gfx12_);
        Json rows = Json::array();
        for (const Mutant &m : mutants)
            rows.push_back(judge(m));
        return {{"kernel", kernel_.name},
                {"gfx", program_.gfx()},
                {"waves", waves()},
                {"errors", errors_.size()},
                {"all", all},
                {"variant", variant},
                {"mutants", rows}};
    }

private:
    Errors errors() const {
        Errors out;
        for (const Finding &f : lint::lint(program_, kernel_, false))
            if (info(f.rule).severity == Severity::error)
                out.emplace(f.rule, f.instruction, f.other);
        return out;
    }

    Json judge(const Mutant &m) {
        const Instruction &was = code_.instructions[m.instruction];
        Json row = {{"offset", code_.base + was.offset - kernel_.entry},
                    {"mnemonic", was.x.mnemonic},
                    {"text", was.text},
                    {"change", m.change}};
        if (const auto note = notes_.find(m.instruction); note != notes_.end())
            row["note"] = info(note->second).id;
        row["edits"] = edits_of(m);
        if (was.x.mnemonic.starts_with("s_barrier"))
            row["lds_across"] = shares_lds(Flow(code_, entry_), m.instruction);
        std::string proof = proof_without_running(m);
        const bool counts = is_counter_wait(m);
        const Applied applied(code_, m);
        for (const auto &error : errors())
            if (!errors_.contains(error)) {
                row["lint"] = info(std::get<Rule>(error)).id;
                return row;
            }
        if (proof.empty() && counts) {
            const Touches now = touches_in_flight(Flow(code_, entry_), gfx12_);
            if (now == touches_)
                proof = "nothing in flight is touched sooner";
            row["memory"] = shown_memory(now) != shown_memory(touches_);
        }
        row["proof"] = proof;
        return row;
    }

    bool is_counter_wait(const Mutant &m) const {
        const WaitLimits limits = wait_limits(code_.instructions[m.instruction],
                                              gfx12_ ? Generation::gfx12 : Generation::gfx11);
        return std::ranges::any_of(limits.limit,
                                   [](u32 limit) { return limit != WaitLimits::unlimited; });
    }

    // Memory effects visible to others, by register.
    static Touches shown_memory(const Touches &all) {
        Touches out;
        std::ranges::copy_if(all, std::inserter(out, out.end()),
                             [](const Touch &t) { return t.place >= Touch::lds_written; });
        return out;
    }

    // Why the mutant is harmless, "" if unknown; judged on the original kernel.
    std::string proof_without_running(const Mutant &m) const {
        const Flow flow(code_, entry_);
        if (code_.instructions[m.instruction].x.mnemonic.starts_with("s_barrier")) {
            if (m.change == "removed" && gfx12_)
                return ""; // half a barrier
            return waves() == 1 ? "a workgroup has one wave" : "";
        }
        return guards_no_hazard(flow, m.instruction, program_.gfx()) ? "it guards no hazard" : "";
    }
    // Equal for kernels that wait for the same in the same order.
    std::string variant_of(const std::vector<Mutant> &mutants) const {
        std::string all;
        for (const Mutant &m : mutants)
            all += code_.instructions[m.instruction].text + m.change;
        return fmt::format("{:x}", std::hash<std::string>{}(all));
    }
    u32 waves() const {
        return (kernel_.max_workgroup + kernel_.wave_size - 1) / kernel_.wave_size;
    }

    // Where the file has to be changed: [place, word].
    Json edits_of(const Mutant &m) const {
        Json out = Json::array();
        for (const Edit &edit : m.edits) {
            const Instruction &was = code_.instructions[edit.instruction];
            for (u32 n = 0; n < was.size / 4 && n < edit.words.size(); ++n)
                out.push_back({place_in_file(was.offset) + 4 * n, edit.words[n]});
        }
        return out;
    }
    u64 place_in_file(u64 address) const {
        for (const Segment &s : elf_.segments())
            if (s.type == segment_load && address >= s.address && address - s.address < s.file_size)
                return s.offset + address - s.address;
        throw Error(fmt::format("{}: the code at 0x{:x} is in no segment", kernel_.name, address));
    }

    const Program &program_;
    const KernelInfo &kernel_;
    const Elf &elf_;
    Code &code_;
    const bool gfx12_;
    const u32 entry_;
    Errors errors_;
    Touches touches_;
    std::map<u32, Rule> notes_; // of a wait that is longer than it has to be
};

std::string judge(const std::string &path, u32 sample, u64 seed) {
    const std::vector<char> file = read(path);
    const auto bytes = std::as_bytes(std::span(file));
    const Elf elf(bytes);
    const auto program = Program::load(bytes, elf.gfx());
    std::string out;
    for (const KernelInfo &kernel : program->kernels()) {
        Json row = Kernel(*program, kernel, elf).judge(sample, seed);
        row["file"] = path;
        out += row.dump() + "\n";
    }
    return out;
}

int run(int argc, char **argv) {
    std::vector<std::string> files;
    u32 sample = 0;
    u64 seed = 1;
    Command app("The lint's findings in kernels with one wait, nop or barrier less");
    app.add("file", &files, "Code objects", {.required = true});
    app.add("--sample", &sample, "Number of mutants of each kernel; default: all");
    app.add("--seed", &seed, "Selects them");
    if (const auto code = app.parse(argc, argv))
        return *code;
    std::mutex mutex;
    parallel_each(files.size(), [&] {
        return [&](u64 n) {
            const std::string line = judge(files[n], sample, seed + n);
            const std::lock_guard lock(mutex);
            fmt::print("{}", line);
        };
    });
    return 0;
}

} // namespace

} // namespace nw::lint::test

int main(int argc, char **argv) {
    try {
        return nw::lint::test::run(argc, argv);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "nw_mutate: %s\n", error.what());
        return 2;
    }
}
