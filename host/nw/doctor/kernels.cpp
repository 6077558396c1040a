// SPDX-License-Identifier: MIT
// All kernels against plain C++, by the program that tests them: alone, and on a device that is
// full of other waves. What an instruction is not waited for shows in one of the two.
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>

#include "nw/doctor/doctor.h"

namespace nw::cli {

namespace {

namespace fs = std::filesystem;

std::string quoted(const std::string &text) {
    std::string out = "'";
    for (const char c : text)
        out += c == '\'' ? "'\\''" : std::string(1, c);
    return out + "'";
}

// Path of check_kernels, beside nw in a build tree.
fs::path checker() {
    std::error_code none;
    return fs::read_symlink("/proc/self/exe", none).parent_path() / "tests/check_kernels";
}

struct Ran {
    int passed = 0, failed = 0;
    std::string first; // kernel that failed, as the program has it
};

Ran run(const std::string &command) {
    Ran out;
    std::FILE *const pipe = popen(command.c_str(), "r");
    if (!pipe)
        throw Error(fmt::format("{}: can't be run", command));
    char line[1024];
    bool ended = false;
    while (std::fgets(line, sizeof line, pipe)) {
        int passed = 0, failed = 0;
        ended = std::sscanf(line, "%d passed, %d failed", &passed, &failed) == 2;
        if (ended)
            out.passed += passed, out.failed += failed;
        else if (std::string_view(line).find("rerun: ") != std::string_view::npos &&
                 out.first.empty())
            out.first = line;
    }
    if (pclose(pipe) != 0 && (!ended || out.failed == 0))
        ++out.failed;
    return out;
}

Ran run_families(const Examination &e, const std::string &options) {
    Ran out;
    for (const std::string &family : e.families) {
        const std::string only = family == "all" ? "" : " --family " + quoted(family);
        const Ran ran = run(fmt::format("{} --device {} --once{}{}", quoted(checker().string()),
                                        quoted(e.device.info().spec), options, only));
        out.passed += ran.passed, out.failed += ran.failed;
        if (out.first.empty())
            out.first = ran.first;
    }
    return out;
}

} // namespace

void try_kernels(Examination &e) {
    if (!fs::exists(checker()))
        return e.add("kernels", State::warn,
                     "not tried: " + checker().string() +
                         " is not there; it is built with the tests (ninja check_kernels)");
    for (const bool crowded : {false, true}) {
        const Ran ran = run_families(e, crowded ? " --crowd" : "");
        const auto first = ran.first.substr(0, ran.first.find('\n'));
        e.judge("kernels", ran.failed == 0 && ran.passed > 0,
                fmt::format("{}: {} of {} are as plain C++ has it{}",
                            crowded ? "on a full device" : "alone", ran.passed,
                            ran.passed + ran.failed, first.empty() ? "" : ";" + first));
    }
}

} // namespace nw::cli
