// SPDX-License-Identifier: MIT
// Runs the enlisted family tests over the registry. The last line is `N passed, N failed`, where
// one is a kernel on a gfx. Where a kernel is the same code on several simulated targets, it is
// checked in full on one of them, and by one launch on each other (--all: in full on each); without
// checkers also where it is the same but for waits. --cover: fewer (check/extents.h).
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unistd.h>

#include "base/command_line.h"
#include "base/error.h"
#include "base/targets.h"
#include "check/check.h"
#include "check/crowd.h"
#include "check/extents.h"
#include "check/same_code.h"

namespace nw::check {

namespace {

std::map<std::string, Family, std::less<>> &families() {
    static std::map<std::string, Family, std::less<>> all;
    return all;
}

struct Options {
    std::string program, device, family, only, kernel;
    std::vector<std::string> gfx;
    u64 seed = 0;
    bool checkers = false, all = false, cover = false, groups = false, verbose = false;
    bool once = false, crowd = false;

    bool selects(const Kernel &k) const {
        return (family.empty() || k.family == family) && (kernel.empty() || k.symbol == kernel) &&
               k.symbol.find(only) != std::string_view::npos;
    }
};

struct Counts {
    u32 passed = 0, failed = 0, entry_only = 0;
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

bool run_kernel(const Options &o, Modules &modules, const Kernel &kernel, bool entry) {
    const std::string rerun = rerun_command(o, modules.device().info(), kernel);
    std::snprintf(crash_note, sizeof crash_note, "%.*s %.*s; rerun: %s",
                  static_cast<int>(kernel.symbol.size()), kernel.symbol.data(),
                  static_cast<int>(kernel.gfx.size()), kernel.gfx.data(), rerun.c_str());
    Test test(modules, kernel, o.seed, rerun, o.verbose);
    test.checkers = o.checkers;
    test.entry = entry;
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
    if (test.failures() == 0 && (test.launches == 0 || (entry && test.launches > 1)))
        test.fail(fmt::format("{} launches", test.launches), std::source_location::current());
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

void run_device(const Options &o, const std::string &spec, const Extents &extents) {
    const hip::Device device = open(o, spec);
    Modules modules(device);
    fmt::print("check: {}, seed {:#x}\n", device.info().label, o.seed);
    std::fflush(stdout);
    const auto crowd = o.crowd ? std::make_unique<Crowd>(device) : nullptr;
    std::map<std::string_view, Counts> by_family;
    for (const Kernel &kernel : kernels(device.info().gfx)) {
        if (!o.selects(kernel))
            continue;
        const auto found = extents.find(&kernel);
        const Extent extent = found == extents.end() ? Extent::full : found->second;
        if (extent == Extent::none || (o.once && (kernel.reference || !kernel.built)))
            continue;
        const bool entry = o.once || extent == Extent::entry;
        const bool passed = run_kernel(o, modules, kernel, entry);
        for (Counts *c : {&counts, &by_family[kernel.family]}) {
            ++(passed ? c->passed : c->failed);
            c->entry_only += entry;
        }
    }
    for (const auto &[family, c] : by_family)
        fmt::print(" - {:<60} [{}]\n",
                   fmt::format("{} x {}{}", family, c.passed + c.failed,
                               c.entry_only
                                   ? fmt::format(", {} of them by one launch: {}", c.entry_only,
                                                 o.once    ? "--once"
                                                 : o.cover ? "others walk their paths"
                                                           : "code checked on another target")
                                   : ""),
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
            if (std::ranges::any_of(kernels(target.name), &Kernel::built))
                out.push_back(fmt::format("sim:{}", target.name));
    return out;
}

// Of "sim:gfx1151"; null for other devices, and for settings.
const Target *simulated(std::string_view spec) {
    return spec.starts_with("sim:") ? find_target(spec.substr(4)) : nullptr;
}

// The kernels of simulated targets in groups of the same code; of other devices, none.
std::vector<std::vector<const Kernel *>> groups(const Options &o,
                                                const std::vector<std::string> &specs) {
    std::map<std::string_view, std::vector<const Kernel *>> by_symbol;
    for (const std::string &spec : specs)
        if (const Target *target = simulated(spec))
            for (const Kernel &kernel : kernels(target->name))
                if (o.selects(kernel))
                    by_symbol[kernel.symbol].push_back(&kernel);
    std::vector<std::vector<const Kernel *>> out;
    for (const auto &[symbol, on_targets] : by_symbol)
        std::ranges::move(same_code(on_targets), std::back_inserter(out));
    return out;
}

void print_groups(const std::vector<std::vector<const Kernel *>> &groups) {
    for (const auto &group : groups) {
        fmt::print("{}", group.front()->symbol);
        for (const Kernel *kernel : group)
            fmt::print(" {}", kernel->gfx);
        fmt::print("\n");
    }
}

int run(int argc, char **argv) {
    Options o;
    o.program = argv[0];
    o.seed = std::random_device{}();
    Command app("Every kernel of the registry against plain C++");
    app.add("--device", &o.device, "one device: auto, hip:N, sim:gfx1151");
    app.add("--gfx", &o.gfx, "simulated targets, comma-separated (default: all)",
            {.comma_separated = true, .excludes = {"--device"}});
    app.add("--family", &o.family, "kernels of that family alone");
    app.add("--only", &o.only, "kernels whose symbol contains this");
    app.add("--kernel", &o.kernel, "the kernel of that symbol alone");
    app.add("--seed", &o.seed, "the seed of an earlier run (default: a new one)");
    app.add("--checkers", &o.checkers, "under every checker of the simulated GPU, on fewer shapes");
    app.add("--all", &o.all,
            "check kernels in full on every target, even where the code is the same");
    app.add("--cover", &o.cover,
            "in full only kernels of the library that together walk each path of their templates, "
            "on one target of each series; the others, and where the code of a target differs, by "
            "one launch",
            {.excludes = {"--all"}});
    app.add("--once", &o.once, "each kernel of the library by one launch, as nw doctor does");
    app.add("--crowd", &o.crowd, "on a device that is full of other waves");
    app.add("--groups", &o.groups, "print symbol and targets of each group of the same code");
    app.add("-v,--verbose", &o.verbose, "name every shape");
    if (const auto code = app.parse(argc, argv))
        return *code;

    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
        std::signal(signal, on_crash);
    const std::vector<std::string> specs = device_specs(o);
    const auto same = o.all ? std::vector<std::vector<const Kernel *>>{} : groups(o, specs);
    if (o.groups) {
        print_groups(same);
        return 0;
    }
    const Extents extents =
        o.cover ? extents_of_cover(same, o.checkers) : extents_of(same, o.checkers);
    for (const std::string &spec : specs) {
        try {
            run_device(o, spec, extents);
        } catch (const Error &e) {
            fmt::print("   {}: {}\n", spec, e.what());
            ++counts.failed;
        }
    }
    if (counts.passed + counts.failed == 0) {
        fmt::print("   no kernel matches --family '{}' --only '{}' --kernel '{}'\n", o.family,
                   o.only, o.kernel);
        counts.failed = 1;
    }
    fmt::print("{} passed, {} failed\n", counts.passed, counts.failed);
    return counts.failed ? 1 : 0;
}

} // namespace

bool enlist(const char *family, Family run) { return families().emplace(family, run).second; }

} // namespace nw::check

int main(int argc, char **argv) { return nw::check::run(argc, argv); }
