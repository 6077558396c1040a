// SPDX-License-Identifier: MIT
// nw time: modelled duration of a kernel on a GPU, and its stall reasons.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/terminal.h"
#include "nw/advice/advice.h"
#include "nw/commands.h"
#include "nw/launch.h"
#include "nw/watch.h"
#include "sim/timing/constants/draws.h"
#include "sim/timing/files/issue_log.h"
#include "sim/timing/files/launch_json.h"
#include "sim/timing/files/trace_file.h"
#include "sim/timing/limiter.h"
#include "sim/timing/watchers.h"

namespace nw::cli {

namespace {

using sim::timing::MemoryCounts, sim::timing::Result, sim::timing::Stall;

struct Options {
    LaunchOptions launch;
    std::string trace, issue_log;
    std::string cold, warm;
    bool uncertainty = false, stats = false, json = false, verbose = false, advice = false,
         watch = false;
};

void row(std::string_view name, const std::string &text) { fmt::print("{:<13} {}\n", name, text); }

std::string bytes(f64 count) {
    for (const char *unit : {"B", "KiB", "MiB"}) {
        if (count < 1024)
            return fmt::format("{:.{}f} {}", count, count < 10 ? 1 : 0, unit);
        count /= 1024;
    }
    return fmt::format("{:.1f} GiB", count);
}

std::string hit_rate(const MemoryCounts::Cache &cache) {
    const u64 all = cache.hits + cache.misses;
    return all ? fmt::format("{:.1f} %",
                             100.0 * static_cast<f64>(cache.hits) / static_cast<f64>(all))
               : "unused";
}

// The largest ones; with `all`, each in a line.
void print_stalls(const Result &r, bool every) {
    u64 all = 0;
    std::vector<std::pair<u64, Stall>> stalls;
    for (size_t n = 1; n < r.stalls.size(); ++n)
        if (r.stalls[n]) {
            stalls.emplace_back(r.stalls[n], static_cast<Stall>(n));
            all += r.stalls[n];
        }
    std::sort(stalls.rbegin(), stalls.rend());
    const f64 life = static_cast<f64>(all + r.insts);
    const auto percent = [&](u64 cycles) { return 100 * static_cast<f64>(cycles) / life; };
    std::string text = fmt::format("{:.1f} % of a wave's cycles", percent(all));
    constexpr u64 shown = 3;
    for (u64 n = 0; !every && n < std::min<u64>(shown, stalls.size()); ++n)
        text += fmt::format("{} {} {:.1f} %", n ? "," : ":", name(stalls[n].second),
                            percent(stalls[n].first));
    row("stalls", text);
    if (!every)
        return;
    for (const auto &[cycles, why] : stalls)
        row("", fmt::format("{:<12} {:5.1f} %  {:.0f} cycles per wave", name(why), percent(cycles),
                            static_cast<f64>(cycles) / static_cast<f64>(r.waves)));
}

void print_caches(const Result &r) {
    const MemoryCounts &m = r.memory;
    row("caches", fmt::format("hits: L0 {}, scalar {}, instruction {}, GL1 {}, L2 {}, MALL {}",
                              hit_rate(m.l0), hit_rate(m.scalar), hit_rate(m.instruction),
                              hit_rate(m.gl1), hit_rate(m.l2), hit_rate(m.mall)));
}

void print_dram(const Result &r, const sim::timing::Part &part) {
    const f64 gb_per_s = (r.dram_read + r.dram_write) / r.time_us / 1000;
    row("DRAM", fmt::format("{:.1f} GB/s, {:.0f} % of what it sustains: {} read, {} written",
                            gb_per_s, 100 * gb_per_s / (part.dram_gb_per_s * part.dram_efficiency),
                            bytes(r.dram_read), bytes(r.dram_write)));
}

void print_utilization(const Launch &launch, const Result &r) {
    const auto u = utilization(r, launch.part());
    const auto percent = [&](f64 share) { return fmt::format("{:.0f} %", 100 * share * r.scale); };
    row("utilization", fmt::format("VALU {} (WMMA {}, TRANS {}), SALU {}, LDS {}, DRAM {}",
                                   percent(u.valu), percent(u.wmma), percent(u.trans),
                                   percent(u.salu), percent(u.lds), percent(u.dram / r.scale)));
    const auto cycles = [&](u64 busy) { return static_cast<f64>(busy) * r.scale; };
    row("LDS", fmt::format("{:.0f} cycles, {:.0f} of them for bank conflicts", cycles(r.busy.lds),
                           cycles(r.busy.lds_conflicts)));
}

void print_stats(const sim::RunStats &s) {
    const sim::InstCounts &i = s.insts;
    row("instructions", fmt::format("{} of waves: VALU {}, VOPD {}, TRANS {}, WMMA {}, SALU {}, "
                                    "SMEM {},",
                                    i.total(), i.valu, i.vopd, i.trans, i.wmma, i.salu, i.smem));
    row("", fmt::format("loads {}, stores {}, LDS {}, branches {}, waits {}, other {}", i.vmem_load,
                        i.vmem_store, i.lds, i.branch, i.wait, i.other));
    row("slots", fmt::format("{} of the VALU", i.valu + i.vopd + i.trans + i.wmma));
    row("asked for", fmt::format("global {} read, {} written; LDS {} read, {} written",
                                 bytes(static_cast<f64>(s.bytes.global_load)),
                                 bytes(static_cast<f64>(s.bytes.global_store)),
                                 bytes(static_cast<f64>(s.bytes.lds_read)),
                                 bytes(static_cast<f64>(s.bytes.lds_write))));
}

// Part of the launch that was timed.
void print_sample(const Result &r) {
    const bool all = r.groups == r.groups_timed;
    std::string text = all ? fmt::format("{}, all of them timed", r.groups)
                           : fmt::format("{}, {} timed", r.groups, r.groups_timed);
    if (r.insts_skipped)
        text += fmt::format(", {:.0f} % of their instructions by the rate of a loop",
                            100 * static_cast<f64>(r.insts_skipped) / static_cast<f64>(r.insts));
    if (!all || r.insts_skipped)
        text += fmt::format(": sampling error {:.2f} %", 100 * r.sampling_error);
    row("workgroups", text);
}

std::string clock_text(const Result &r, const sim::timing::Part &part) {
    return r.mhz < part.shader_mhz
               ? fmt::format("{:.0f} MHz, which WMMA busy for {:.0f} % sustains; boost {} MHz",
                             r.mhz, 100 * r.use.wmma, part.shader_mhz)
               : fmt::format("{} MHz", part.shader_mhz);
}

std::string dim(const sim::Dim3 &d) { return fmt::format("{},{},{}", d.x, d.y, d.z); }

void print(const Options &o, const Launch &launch, const sim::timing::Timing::Timed &timed,
           const std::vector<f64> &times) {
    const Result &r = timed.result;
    const sim::Dispatch &d = launch.dispatch();
    fmt::print(heading_style(), "{} on {} ({}), grid {}, block {}", d.kernel->name, r.part,
               launch.device().gfx, dim(d.grid), dim(d.block));
    fmt::print("\nModelled (sim), not measured on a card.{}\n\n",
               o.verbose ? "" : " -v: caches, units, each reason to wait.");
    row("time", fmt::format("{:.2f} us, of which {:.2f} us launch overhead", r.time_us,
                            launch.part().launch_overhead));
    row("clock", clock_text(r, launch.part()));
    if (!r.draws_us.empty()) {
        const auto [low, high] = sim::timing::bounds(r.time_us, r.draws_us);
        row("", fmt::format("{:.2f} to {:.2f} us in {} draws of the constants", low, high,
                            r.draws_us.size()));
    } else if (o.uncertainty)
        row("", "without draws: the kernel reads a clock, so it can't be replayed");
    if (const f64 share = sim::timing::fetch_share(r); share >= sim::timing::cold_code_share)
        row("cold code",
            fmt::format("{:.0f} % of a wave's cycles wait for instructions{}", 100 * share,
                        o.warm.empty() ? "; --warm code leaves this out" : ""));
    if (times.size() > 1)
        row("",
            fmt::format("of {} launches: first {:.2f}, least {:.2f}, most {:.2f} us", times.size(),
                        times.front(), *std::min_element(times.begin(), times.end()),
                        *std::max_element(times.begin(), times.end())));
    print_dram(r, launch.part());
    row("limiter", r.limiter);
    row("occupancy", fmt::format("{:.1f} waves per SIMD on average", r.occupancy));
    print_stalls(r, o.verbose);
    print_sample(r);
    if (o.verbose) {
        row("cycles", fmt::format("{}", r.cycles));
        print_utilization(launch, r);
        print_caches(r);
    }
    if (o.stats)
        print_stats(timed.stats);
    if (o.verbose)
        row("executed", timed.sliced ? "what decides branches, masks and addresses; --stats: all"
                                     : "all instructions");
    if (!r.unknown.empty())
        row("by default", fmt::format("timed by default costs: {}", fmt::join(r.unknown, ", ")));
    else if (o.verbose)
        row("by default", "no instruction: all have a cost class");
}

void print_advice(const Advised &advised) {
    std::string_view name = "next";
    for (const std::string &line : advised.lines(86)) { // behind the name, within 100 columns
        row(name, line);
        name = "";
    }
}

// --trace and --issue-log, covering all launches.
struct Files {
    std::optional<sim::timing::TraceFile> trace;
    std::optional<sim::timing::IssueLog> issue_log;

    explicit Files(const Options &o) {
        const auto complain = [](const std::string &what) { fmt::print(stderr, "nw: {}\n", what); };
        if (!o.trace.empty())
            trace.emplace(o.trace, complain);
        if (!o.issue_log.empty())
            issue_log.emplace(o.issue_log, complain);
    }
    sim::timing::Watchers watch(const Launch &launch) {
        sim::timing::Watchers all;
        if (trace)
            all.add(trace->watch(launch.dispatch(), launch.part()));
        if (issue_log)
            all.add(issue_log->watch(launch.dispatch()));
        return all;
    }
};

// Cache state before each launch, and output beside the time.
LaunchOptions launch_options(const Options &o) {
    LaunchOptions out = o.launch;
    out.timing = {.draws = o.uncertainty ? sim::timing::usual_draws : 0,
                  .cold_data = !o.cold.empty(),
                  .warm_code = !o.warm.empty()};
    keep_for_advice(out, o.advice);
    return out;
}

void run(const Options &o) {
    Launch launch(launch_options(o));
    std::vector<f64> times;
    sim::timing::Timing::Timed timed;
    Files files(o);
    for (u32 n = 0; n < o.launch.repeat; ++n) {
        auto watchers = files.watch(launch);
        sim::timing::Watcher *const watcher = watchers.empty() ? nullptr : &watchers;
        // Only the time of the last launch is read, unless counts are printed.
        const bool only_time = n + 1 == o.launch.repeat && !o.stats && !o.json;
        timed = only_time ? launch.run_for_times(watcher) : launch.run(watcher);
        times.push_back(timed.result.time_us);
    }
    const Advised advised = advise(launch, timed.result);
    if (!o.json) {
        print(o, launch, timed, times);
        return print_advice(advised);
    }
    auto json = launch_json(launch.dispatch(), launch.device(), timed.stats, &timed.result);
    json["times_us"] = times;
    json["advice"] = to_json(advised);
    fmt::print("{}\n", json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

constexpr const char *footer = R"(
time        modelled time of the launch, launch overhead included
DRAM        bytes that missed all caches, over the time; sustained bandwidth: nw constants
limiter     the unit or stall that accounts for most of the time
occupancy   waves resident on a SIMD at once; s_endpgm frees a wave's slot
cold code   waits for instruction fetch, if they take 3 % of a wave's cycles or more
stalls      cycles in which a wave could not issue, by reason: wait_* is an s_wait instruction
slots       with --stats; a VALU issue slot is one VALU, VOPD (a pair is one), TRANS or WMMA instruction
workgroups  in a large grid with steady rates only a sample of the workgroups, and of the iterations of long
            loops, is timed; --exact times all. The sampling error is a 95 % confidence interval. Addresses
            are checked in executed workgroups only
executed    without --stats, --json or output files only code that the time depends on, if the kernel permits
utilization busy cycles of a unit over all cycles
LDS         busy cycles; conflicts: lanes that access the same bank
by default  instructions that have the model's default cost
next        at most three changes that would make this launch faster, by the model: the launch is replayed with
            one change each, from the same caches. Each has the time saved, its evidence, the instruction with
            most of it, and the note of isa_notes that explains it. Changes below 2 % are left out; gains don't
            add up. Launches of more than 8 million timed instructions need --advice

--uncertainty: 5 draws of all fitted and guessed constants within their ranges (nw constants), seed fixed; the
launch is executed once and replayed under each draw; low and high are the extremes, the unchanged model included.
For a fair comparison of kernels: --cold weights --warm code

  nw time saxpy.s --grid 1024 --args buf:4M:f32 buf:4M u32:1048576
  nw time saxpy.hip --gfx gfx1201 --grid 64 --args buf:64K buf:64K u32:16384 --advice)";

} // namespace

void add_time(Command &app) {
    auto options = std::make_shared<Options>();
    Command &command = app.add_subcommand("time", "Time a kernel on a modelled GPU");
    add_options(command, options->launch);
    command.add("--uncertainty", &options->uncertainty,
                "Also print the lowest and the highest time under draws of the constants");
    command.add("--cold", &options->cold,
                "weights: caches hold no data before each launch; default: caches as the previous "
                "launch left them",
                {.one_of = {"weights"}});
    command.add("--warm", &options->warm,
                "code: instruction caches hold the kernel's code before each launch",
                {.one_of = {"code"}});
    command.add("--stats", &options->stats, "Also count instructions and bytes");
    command.add("--trace", &options->trace, "Write a trace to this file, as HIPSIM_TRACE",
                {.writable_file = true});
    command.add("--issue-log", &options->issue_log,
                "Write an issue log to this file, as HIPSIM_ISSUE_LOG", {.writable_file = true});
    add_advice_option(command, options->advice);
    command.add("--json", &options->json,
                "Print JSON with the keys of HIPSIM_STATS, times_us and advice");
    command.add("-v,--verbose", &options->verbose,
                "Also print cycles, units, caches and all stall reasons");
    command.footer = footer;
    add_watch_option(command, options->watch);
    command.run = [options] {
        run_watched(options->watch, {options->launch.file}, [&] { run(*options); });
    };
}

} // namespace nw::cli
