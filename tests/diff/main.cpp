// SPDX-License-Identifier: MIT
// Runs every kernel of kernels/*.cl in every configuration it was compiled for. One test is a
// kernel in a configuration; the last line is `N passed, N failed`, and `, N skipped` where the
// simulator lacks an instruction that missing.txt names.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "compare.h"
#include "stderr_capture.h"

namespace nw::diff {

namespace {

struct Options {
    std::string program, file, only, check;
    std::vector<std::string> gfx; // empty: all
    std::vector<u32> waves{32, 64}, levels{0, 1, 2, 3};
    u64 seed = 0;
    bool whole = true; // nothing left out by an option
};

struct Config {
    std::string gfx;
    u32 wave, level;
};

// Target that a file's kernels were compiled for.
const struct {
    std::string_view file;
    Config config;
} configs[] = {
#define DIFF_CONFIG(file, gfx, wave, level) {file, {gfx, wave, level}},
#include "diff_configs.inc"
#undef DIFF_CONFIG
};

struct Counts {
    u32 passed = 0, failed = 0, skipped = 0;
};

// Mnemonics of missing.txt, which the simulator does not run yet. The list may only shrink: a
// kernel that needs one is skipped, and a name that no kernel stumbles over is a failure.
std::map<std::string, u32> read_missing() {
    std::map<std::string, u32> out;
    std::ifstream file(NW_SOURCE_DIR "/tests/diff/missing.txt");
    for (std::string line; std::getline(file, line);)
        if (!line.empty() && line[0] != '#')
            out[line] = 0;
    return out;
}

// The mnemonic of "hipsim: not implemented: v_movreld_b32_e32 v0, v16: ...", without its encoding.
std::string not_implemented(const std::string &said) {
    constexpr std::string_view before = "not implemented: ";
    const auto at = said.find(before);
    if (at == std::string::npos)
        return "";
    std::string name = said.substr(at + before.size());
    name = name.substr(0, name.find_first_of(" :\n"));
    for (std::string_view encoding : {"_e32", "_e64"})
        if (name.ends_with(encoding))
            name.resize(name.size() - encoding.size());
    return name;
}

std::string code_path(std::string_view file, const Config &config) {
    return fmt::format(NW_DIFF_CODE "/{}_{}_w{}_O{}.hsaco", file, config.gfx, config.wave,
                       config.level);
}

class Runner {
public:
    explicit Runner(Options options) : options_(std::move(options)) {}

    Counts run() {
        std::vector<std::string_view> files;
        for (const DiffKernel &kernel : diff_kernels())
            if (files.empty() || files.back() != kernel.file)
                files.push_back(kernel.file);
        std::set<std::string> targets;
        for (const auto &[file, config] : configs)
            if (chosen(config))
                targets.insert(config.gfx);
        for (const std::string &gfx : targets) {
            // clang 22 forms pairs that H-026 is against.
            const std::string check = options_.check.empty() ? ""
                                                             : "?check=" + options_.check +
                                                                   "&choices=vopd_interlock=kept";
            const hip::Device device("sim:" + gfx + check, "timing=off"); // no result needs time
            for (const std::string_view file : files)
                if (options_.file.empty() || file == options_.file)
                    for (const auto &[of, config] : configs)
                        if (of == file && config.gfx == gfx && chosen(config))
                            run_file(device, file, config);
        }
        if (options_.whole)
            shrink_missing();
        return counts_;
    }

private:
    bool chosen(const Config &config) const {
        const auto in = [](const auto &list, const auto &value) {
            return std::find(list.begin(), list.end(), value) != list.end();
        };
        return (options_.gfx.empty() || in(options_.gfx, config.gfx)) &&
               in(options_.waves, config.wave) && in(options_.levels, config.level);
    }

    void run_file(const hip::Device &device, std::string_view file, const Config &config) {
        std::optional<hip::Module> module;
        std::string problem;
        try {
            module.emplace(device.load(code_path(file, config)));
        } catch (const Error &error) {
            problem = error.what();
        }
        Counts here;
        for (const DiffKernel &kernel : diff_kernels()) {
            if (kernel.file != file || kernel.name.find(options_.only) == std::string_view::npos)
                continue;
            const std::string wrong =
                module ? run_kernel(device, *module, kernel, config) : problem;
            const auto missing = missing_.find(not_implemented(wrong));
            if (missing != missing_.end()) {
                ++missing->second;
                ++here.skipped;
                continue;
            }
            if (!wrong.empty())
                complain(kernel, config, wrong);
            ++(wrong.empty() ? here.passed : here.failed);
        }
        if (here.passed + here.failed + here.skipped > 0)
            fmt::print("{:<12} {} wave{} -O{} {:>4} passed{}{}\n", file, config.gfx, config.wave,
                       config.level, here.passed,
                       here.failed ? fmt::format(", {} FAILED", here.failed) : "",
                       here.skipped ? fmt::format(", {} skipped", here.skipped) : "");
        std::fflush(stdout);
        counts_.passed += here.passed;
        counts_.failed += here.failed;
        counts_.skipped += here.skipped;
    }

    void shrink_missing() {
        for (const auto &[mnemonic, met] : missing_) {
            if (met == 0)
                fmt::print("   {} is in missing.txt, but nothing lacks it: remove it\n", mnemonic);
            counts_.failed += met == 0;
        }
    }

    std::string run_kernel(const hip::Device &device, const hip::Module &module,
                           const DiffKernel &kernel, const Config &config) {
        const Case &c = case_of(kernel, config.wave);
        const StderrCapture capture;
        try {
            return run_case(c, device, module);
        } catch (const Error &error) {
            const std::string said = capture.text();
            return said.empty() ? error.what() : said.substr(0, said.find_last_not_of('\n') + 1);
        }
    }

    void complain(const DiffKernel &kernel, const Config &config, const std::string &wrong) {
        fmt::print("   {} {} wave{} -O{}: {}\n", kernel.name, config.gfx, config.wave, config.level,
                   wrong);
        fmt::print("      rerun: {} --only {} --gfx {} --wave {} --level {} --seed {:#x}{}\n",
                   options_.program, kernel.name, config.gfx, config.wave, config.level,
                   options_.seed, options_.check.empty() ? "" : " --check " + options_.check);
        fmt::print("      code:  " NW_OBJDUMP " -d --mcpu={}{} --disassemble-symbols={} {}\n",
                   config.gfx, config.wave == 64 ? " --mattr=+wavefrontsize64" : "", kernel.name,
                   code_path(kernel.file, config));
    }

    // The host's results depend on the wave size, not on the target.
    const Case &case_of(const DiffKernel &kernel, u32 wave) {
        auto &slot = cases_[{&kernel, wave}];
        if (!slot)
            slot.emplace(make_case(kernel, wave, options_.seed));
        return *slot;
    }

    const Options options_;
    std::map<std::string, u32> missing_ = read_missing();
    std::map<std::pair<const DiffKernel *, u32>, std::optional<Case>> cases_;
    Counts counts_;
};

int run(int argc, char **argv) {
    Options o;
    o.program = argv[0];
    o.seed = std::random_device{}();
    Command app("Kernels compiled for GPUs and for the host: the same results");
    app.add("--file", &o.file, "one file of kernels/, without .cl");
    app.add("--only", &o.only, "kernels whose name contains this");
    app.add("--gfx", &o.gfx, "targets, comma-separated", {.comma_separated = true});
    app.add("--wave", &o.waves, "wave sizes: 32, 64", {.comma_separated = true});
    app.add("--level", &o.levels, "clang's -O: 0, 1, 2, 3", {.comma_separated = true});
    app.add("--check", &o.check, "HIPSIM_CHECK: compiled code has nothing to report");
    app.add("--seed", &o.seed, "the seed of an earlier run (default: a new one)");
    if (const auto code = app.parse(argc, argv))
        return *code;
    for (const char *part : {"--file", "--only", "--gfx", "--wave", "--level"})
        o.whole &= !app.given(part);

    fmt::print("diff: {} kernels, seed {:#x}\n", diff_kernels().size(), o.seed);
    Counts counts;
    try {
        counts = Runner(o).run();
    } catch (const Error &error) {
        fmt::print("   {}\n", error.what());
        ++counts.failed;
    }
    if (counts.passed + counts.failed + counts.skipped == 0) {
        fmt::print("   no kernel matches --file '{}' --only '{}'\n", o.file, o.only);
        ++counts.failed;
    }
    fmt::print("{} passed, {} failed{}\n", counts.passed, counts.failed,
               counts.skipped ? fmt::format(", {} skipped", counts.skipped) : "");
    return counts.failed ? 1 : 0;
}

} // namespace

} // namespace nw::diff

int main(int argc, char **argv) { return nw::diff::run(argc, argv); }
