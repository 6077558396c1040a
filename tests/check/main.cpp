// SPDX-License-Identifier: MIT
// Runs the enlisted family tests over the registry. The last line is `N passed, N failed`, where
// one is a kernel on a gfx.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <unistd.h>

#include "base/error.h"
#include "base/targets.h"
#include "check/check.h"

namespace nw::check {

namespace {

std::map<std::string, Family, std::less<>> &families() {
    static std::map<std::string, Family, std::less<>> all;
    return all;
}

struct Options {
    std::string program, device, only, kernel;
    std::vector<std::string> gfx;
    u64 seed = 0;
    bool checkers = false, verbose = false;
};

struct Counts {
    u32 passed = 0, failed = 0;
};

// Text of a crash report; plain memory, because a signal handler may not allocate.
char crash_note[512];
Counts counts;

void on_crash(int signal) {
    char line[700];
    const int size = std::snprintf(line, sizeof line,
                                   "\n   crashed with signal %d in %s\n%u passed, %u failed\n",
                                   signal, crash_note, counts.passed, counts.failed + 1);
    if (write(STDOUT_FILENO, line, static_cast<std::size_t>(size)) < 0)
        _exit(3);
    _exit(1);
}

std::string rerun_command(const Options &o, const hip::DeviceInfo &device, const Kernel &kernel) {
    return fmt::format("{} --device {} --only {} --seed {:#x}{} -v", o.program, device.spec,
                       kernel.symbol, o.seed, o.checkers ? " --checkers" : "");
}

bool run_kernel(const Options &o, Modules &modules, const Kernel &kernel) {
    const std::string rerun = rerun_command(o, modules.device().info(), kernel);
    std::snprintf(crash_note, sizeof crash_note, "%.*s %.*s; rerun: %s",
                  static_cast<int>(kernel.symbol.size()), kernel.symbol.data(),
                  static_cast<int>(kernel.gfx.size()), kernel.gfx.data(), rerun.c_str());
    Test test(modules, kernel, o.seed, rerun, o.verbose);
    test.checkers = o.checkers;
    const auto family = families().find(kernel.family);
    if (family == families().end()) {
        test.fail(fmt::format("no test for the family {}", kernel.family),
                  std::source_location::current());
        return false;
    }
    try {
        family->second(test, kernel);
    } catch (const std::exception &e) {
        test.fail(e.what(), std::source_location::current());
    }
    if (o.verbose)
        fmt::print("   {} {}: {} launches, {} failures\n", kernel.symbol, kernel.gfx, test.launches,
                   test.failures());
    return test.failures() == 0;
}

// These checks don't depend on time.
hip::Device open(const Options &o, std::string spec) {
    if (o.checkers && spec.starts_with("sim:"))
        spec += (spec.find('?') == std::string::npos ? "?" : "&") + std::string("check=all");
    return hip::Device(spec, o.checkers ? "timing=off&check=all" : "timing=off");
}

void run_device(const Options &o, const std::string &spec) {
    const hip::Device device = open(o, spec);
    Modules modules(device);
    fmt::print("check: {}, seed {:#x}\n", device.info().label, o.seed);
    std::fflush(stdout);
    std::map<std::string_view, Counts> by_family;
    for (const Kernel &kernel : kernels(device.info().gfx)) {
        if (kernel.symbol.find(o.only) == std::string_view::npos ||
            (!o.kernel.empty() && kernel.symbol != o.kernel))
            continue;
        const bool passed = run_kernel(o, modules, kernel);
        for (Counts *c : {&counts, &by_family[kernel.family]})
            ++(passed ? c->passed : c->failed);
    }
    for (const auto &[family, c] : by_family)
        fmt::print(" - {:<40} [{}]\n", fmt::format("{} x {}", family, c.passed + c.failed),
                   c.failed ? "FAILED" : "ok");
    std::fflush(stdout);
}

std::vector<std::string> device_specs(const Options &o) {
    const char *environment = std::getenv("NIBBLEWAVE_DEVICE");
    if (!o.device.empty())
        return {o.device};
    if (o.gfx.empty() && environment && *environment)
        return {environment};
    std::vector<std::string> out;
    for (const std::string &gfx : o.gfx)
        out.push_back("sim:" + gfx);
    if (out.empty())
        for (const Target &target : targets())
            out.push_back(fmt::format("sim:{}", target.name));
    return out;
}

int run(int argc, char **argv) {
    Options o;
    o.program = argv[0];
    o.seed = std::random_device{}();
    CLI::App app("Every kernel of the registry against plain C++");
    auto *device = app.add_option("--device", o.device, "one device: auto, hip:N, sim:gfx1151");
    app.add_option("--gfx", o.gfx, "simulated targets, comma-separated (default: all)")
        ->delimiter(',')
        ->excludes(device);
    app.add_option("--only", o.only, "kernels whose symbol contains this");
    app.add_option("--kernel", o.kernel, "the kernel of that symbol alone");
    app.add_option("--seed", o.seed, "the seed of an earlier run (default: a new one)");
    app.add_flag("--checkers", o.checkers,
                 "under every checker of the simulated GPU, on fewer shapes");
    app.add_flag("-v,--verbose", o.verbose, "name every shape");
    CLI11_PARSE(app, argc, argv);

    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
        std::signal(signal, on_crash);
    for (const std::string &spec : device_specs(o)) {
        try {
            run_device(o, spec);
        } catch (const Error &e) {
            fmt::print("   {}: {}\n", spec, e.what());
            ++counts.failed;
        }
    }
    if (counts.passed + counts.failed == 0) {
        fmt::print("   no kernel matches --only '{}' --kernel '{}'\n", o.only, o.kernel);
        counts.failed = 1;
    }
    fmt::print("{} passed, {} failed\n", counts.passed, counts.failed);
    return counts.failed ? 1 : 0;
}

} // namespace

bool enlist(const char *family, Family run) { return families().emplace(family, run).second; }

} // namespace nw::check

int main(int argc, char **argv) { return nw::check::run(argc, argv); }
