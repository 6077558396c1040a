// SPDX-License-Identifier: MIT
// nw check: any HIP program on the simulated GPU, under its checkers.
#include "nw/check/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/pattern.h"
#include "base/split.h"
#include "base/targets.h"
#include "nw/check/launcher.h"
#include "nw/check/suppressions.h"
#include "nw/code_object.h"
#include "nw/commands.h"
#include "nw/gfx.h"

namespace nw::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char *default_gfx = "gfx1151";

void note(const std::string &text) { fmt::print(stderr, "========= nw check: {}\n", text); }

void check_tools(const std::string &tools) {
    constexpr std::string_view names[] = {"mem",  "init",  "init:local", "wait",
                                          "race", "pairs", "leak",       "all"};
    for (const std::string &tool : split(tools, ','))
        if (std::ranges::count(names, tool) == 0)
            throw Error(
                fmt::format("--tools {}: '{}' is none of {}", tools, tool, fmt::join(names, ", ")));
}

bool has(const std::string &tools, std::string_view tool) {
    return std::ranges::count(split(tools, ','), tool) > 0;
}

// For HIPSIM_CHECK: `wait` reports pairs.
std::string checkers(const std::string &tools) {
    std::vector<std::string> out = split(tools, ',');
    std::erase(out, "leak");
    std::ranges::replace(out, std::string("pairs"), std::string("wait"));
    return out.empty() ? "mem" : fmt::format("{}", fmt::join(out, ","));
}

// The first file in PATH, as exec finds it; or the name itself.
std::string file_of(const std::string &program) {
    const char *path = std::getenv("PATH");
    if (program.find('/') != program.npos || !path)
        return program;
    std::error_code ignored;
    for (const std::string &folder : split(path, ':')) {
        const fs::path file = fs::path(folder) / program;
        if (fs::is_regular_file(file, ignored))
            return file.string();
    }
    return program;
}

std::set<std::string> targets_in(const std::string &program) {
    constexpr std::uintmax_t most = std::uintmax_t{1} << 28; // read as a whole
    const std::string file = file_of(program);
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored) || fs::file_size(file, ignored) > most)
        return {};
    try {
        return targets_of_file(file);
    } catch (const Error &) { // HIP will say what is wrong with it
        return {};
    }
}

// The first that the program has code for; without any, the default.
std::string gfx_for(const std::string &program) {
    if (const char *set = std::getenv("HIPSIM_ARCH"); set && *set)
        return set;
    const std::set<std::string> targets = targets_in(program);
    if (targets.empty() || targets.contains(default_gfx))
        return default_gfx;
    for (const std::string &name : targets) // "gfx1100", or with features: "gfx90a:xnack+"
        if (const Target *target = find_target(one_gfx(name)); target && target->supported)
            return std::string(target->name);
    throw Error(fmt::format("{} has code for {} only: build it for one of {}, which are simulated, "
                            "or name one with --gfx if it loads other code",
                            program, fmt::join(targets, ", "), target_names()));
}

u64 number(const std::string &text, const std::string &launches) {
    u64 value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value == 0)
        throw Error(
            fmt::format("--launch {}: must be A:B, or a single number, counted from 1", launches));
    return value;
}

Json settings_of(const CheckOptions &o) {
    Json out = Json::object();
    if (!o.kernel.empty()) {
        const Pattern valid("--kernel", o.kernel);
        out["kernels"] = o.kernel;
    }
    if (!o.launches.empty()) {
        const size_t colon = o.launches.find(':');
        const std::string first = o.launches.substr(0, colon);
        const std::string last = colon == o.launches.npos ? first : o.launches.substr(colon + 1);
        const u64 begin = first.empty() ? 1 : number(first, o.launches);
        const u64 end = last.empty() ? ~u64{0} : number(last, o.launches);
        if (end < begin)
            throw Error(fmt::format("--launch {}: ends before it begins", o.launches));
        out["first_launch"] = begin;
        out["last_launch"] = end;
    }
    out["stop_at_first"] = o.stop_at_first;
    out["leaks"] = has(o.tools, "leak");
    return out;
}

std::string named(const std::string &program) { return fs::path(program).filename().string(); }

void tell_end(const Ended &ended, const CheckOptions &o) {
    const std::string &name = o.program[0];
    if (ended.timed_out)
        note(fmt::format("{} still ran after {} seconds (--timeout) and was ended: what it had "
                         "found until then:",
                         name, o.timeout));
    else if (ended.signal)
        note(fmt::format("{} was ended by signal {} ({}); launches that had not ended are not "
                         "checked",
                         name, ended.signal, strsignal(ended.signal)));
    if (ended.left)
        note(fmt::format("{} processes that {} started still run: their later launches are not in "
                         "this report",
                         ended.left, name));
}

void tell_processes(const CheckResult &result, const CheckOptions &o) {
    for (const std::string &program : result.forked)
        note(fmt::format("a process of {} was forked after its parent had used HIP, and its HIP "
                         "calls failed: fork before the first call, or start a new program "
                         "(Python: multiprocessing's \"spawn\")",
                         named(program)));
    if (result.loaded == 0)
        note(fmt::format("no process of {} loaded the simulated libamdhip64.so: it is no HIP "
                         "program, links HIP or the C library statically, or is set-user-ID. "
                         "Nothing was checked",
                         o.program[0]));
    else if (result.launches == 0)
        note("no kernel was launched: nothing was checked");
    else if (result.checked == 0)
        note(fmt::format("--kernel and --launch selected none of {} launches", result.launches));
}

void print_findings(const CheckResult &result, const CheckOptions &o) {
    for (size_t n = 0; n < std::min<size_t>(result.findings.size(), o.limit); ++n)
        fmt::print(stderr, "{}", check_text(result.findings[n]));
    if (result.findings.size() > o.limit)
        note(fmt::format("{} more findings (--limit {})", result.findings.size() - o.limit,
                         o.limit));
    if (result.suppressed)
        note(fmt::format("{} findings suppressed", result.suppressed));
}

void write_files(const CheckResult &result, const CheckOptions &o) {
    if (!o.json.empty())
        write_text("--json", o.json, check_json(result, o).dump(1) + "\n");
    if (!o.sarif.empty())
        write_text("--sarif", o.sarif, check_sarif(result).dump(1) + "\n");
    if (!o.junit.empty())
        write_text("--junit", o.junit, check_junit(result, o));
    if (!o.generate_suppressions.empty())
        write_text("--generate-suppressions", o.generate_suppressions,
                   CheckSuppressions::text_of(result.findings));
}

void suppress(CheckResult &result, CheckSuppressions &known) {
    result.suppressed =
        std::erase_if(result.findings, [&](const CheckFinding &f) { return known.covers(f); });
    for (const std::string &line : known.unused())
        note(fmt::format("suppresses nothing: {}", line));
}

// The program's own exit code unless there are findings, or nothing could be checked.
int exit_code(const Ended &ended, const CheckResult &result, const CheckOptions &o) {
    constexpr int of_signals = 128, of_timeout = 124; // as shells and timeout(1) have them
    if (!result.findings.empty())
        return static_cast<int>(o.error_exitcode);
    if (ended.timed_out)
        return of_timeout;
    if (ended.signal)
        return of_signals + ended.signal;
    return ended.code == 0 && result.loaded == 0 ? exit_misuse : ended.code;
}

void run(CheckOptions o) {
    if (o.program.empty())
        throw Error("check: name the program after --, as in nw check -- ./program; see --help");
    check_tools(o.tools);
    if (o.gfx.empty())
        o.gfx = gfx_for(o.program[0]);
    for (const std::string &gfx : split(o.gfx, ','))
        check_gfx(gfx);
    std::optional<CheckSuppressions> known;
    if (!o.suppressions.empty())
        known.emplace(o.suppressions);
    const CheckFolder folder;
    folder.write_settings(settings_of(o));
    const Ended ended =
        run_checked(folder, o.program, o.gfx, checkers(o.tools), has(o.tools, "pairs"), o.timeout);
    CheckResult result = gather_findings(folder.path());
    tell_end(ended, o);
    tell_processes(result, o);
    if (known)
        suppress(result, *known);
    result.exit_code = exit_code(ended, result, o);
    print_findings(result, o);
    write_files(result, o);
    fmt::print(stderr, "{} findings in {} launches\n", result.findings.size(), result.checked);
    if (result.exit_code)
        throw Findings(result.exit_code);
}

constexpr const char *footer = R"(
Exit code: 97 (--error-exitcode) with findings; else the program's own, 128 + N after signal N, 124 after --timeout,
2 if nothing loaded HIP. The program's output is its own; findings are on stderr, the last line is `N findings in M launches`.

  nw check -- ./saxpy 1024
  nw check --gfx gfx1201 --tools mem,race --sarif findings.sarif -- python3 test.py
  nw check --kernel '^attn' --launch 10:20 -- pytest -x tests

Compile device code with -g (or -gline-tables-only) to get source lines. A suppression file has a line for each accepted
finding, `race.unordered kernel=reduce* at=reduce.hip:41`; --generate-suppressions writes them.)";

} // namespace

void add_check(Command &app) {
    auto o = std::make_shared<CheckOptions>();
    Command &command = app.add_subcommand(
        "check", "Run a HIP program on a simulated GPU and report its kernels' bugs: nw check "
                 "[OPTIONS] -- PROGRAM ARGS");
    command.footer = footer;
    command.verbatim = &o->program;
    command.add("--gfx", &o->gfx,
                "Simulated GPUs, a comma list; default: gfx1151, or the first target that the "
                "program has code for");
    command.add("--tools", &o->tools,
                "Comma list of mem (addresses; always on), init (uninitialised values), wait "
                "(missing waits, hazards), race; all: these. Besides: pairs (H-026, in code of "
                "compilers too), leak (what is "
                "alive at exit)",
                {.show_default = true});
    command.add(
        "--kernel", &o->kernel,
        "Regular expression: check only these kernels, by mangled or demangled name; others "
        "run at full speed");
    command.add("--launch", &o->launches, "A:B: check only these launches of a process, from 1");
    command.add("--stop-at-first", &o->stop_at_first,
                "End the process at the end of the first launch with findings");
    command.add("--limit", &o->limit, "Findings to print", {.show_default = true});
    command.add("--timeout", &o->timeout, "Seconds after which the program is ended");
    command.add("--error-exitcode", &o->error_exitcode, "Exit code with findings",
                {.range = {0, 255}, .show_default = true});
    command.add("--suppressions", &o->suppressions, "Leave out the findings of this file",
                {.existing_file = true});
    command.add("--generate-suppressions", &o->generate_suppressions,
                "Write the findings to this file, for --suppressions", {.writable_file = true});
    command.add("--json", &o->json, "Write JSON", {.writable_file = true});
    command.add("--sarif", &o->sarif, "Write SARIF 2.1.0, for code scanning",
                {.writable_file = true});
    command.add("--junit", &o->junit, "Write JUnit XML", {.writable_file = true});
    command.run = [o] { run(*o); };
}

} // namespace nw::cli
