// SPDX-License-Identifier: MIT
// nw_bench itself: has the suite's program run the suite.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

#include "bench/result.h"

namespace nw::bench {

namespace {

// Arguments of this process: /proc separates them by zeros.
std::vector<std::string> arguments() {
    std::vector<std::string> out;
    std::ifstream file("/proc/self/cmdline");
    for (std::string text; std::getline(file, text, '\0');)
        out.push_back(text);
    return out;
}

} // namespace

Result run_suite(const Options &o, const Shapes &) {
    const std::filesystem::path program =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / o.suite;
    std::vector<std::string> words = arguments();
    std::vector<char *> pointers;
    for (std::string &word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(program.c_str(), pointers.data());
    throw Error(fmt::format("{}: {}: run `./bench/run --suite {}`, or build the target nw_bench_{}",
                            program.string(), std::strerror(errno), o.suite, o.suite));
}

} // namespace nw::bench
