// SPDX-License-Identifier: MIT
// Issue times of a wave in short sequences of instructions, against thread traces of the same
// sequences.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <stdexcept>

#include "bench/published.h"
#include "bench/validate/tables.h"
#include "sim/timing/run.h"

namespace nw::bench {

namespace {

using Kind = PublishedTrace::Kind;

std::string fact_of(const PublishedTrace &p) {
    return fmt::format("traces {} {}", p.gfx, p.sequence);
}

// Traces don't show these.
const std::set<std::string_view> hidden = {"s_delay_alu", "s_wait_alu", "s_waitcnt_depctr",
                                           "s_barrier_wait"};

struct Issue {
    u32 index;
    u64 at;
};

// The wave's issues of the code, in the second of two launches: its lines are in the cache.
std::vector<Issue> issues_of(const PublishedTrace &p) {
    sim::test::KernelText text;
    text.gfx = p.gfx;
    text.body = p.setup + p.code;
    text.vgprs = 224;
    text.lds = 1024;
    text.descriptor = ".amdhsa_workgroup_processor_mode 0"; // as in the traces
    sim::test::TimedLaunch launch;
    launch.block = {p.threads, 1, 1};
    launch.words = 1 << 16;
    time(text, launch);
    constexpr u32 prologue = 3; // loads of the arguments, and their wait
    const u32 first = prologue + p.setup_instructions();
    std::vector<Issue> out;
    for (const auto &e : launch.events)
        if (e.group == 0 && e.wave == p.wave && e.index >= first &&
            !hidden.contains(launch.mnemonic(e)))
            out.push_back({e.index, e.issue});
    return out;
}

// The intervals that are published; of a loop: from the pass before the last one on.
std::vector<f64> intervals_of(const PublishedTrace &p) {
    const std::vector<Issue> issues = issues_of(p);
    std::vector<size_t> passes; // issues of the first instruction
    for (size_t n = 0; n < issues.size(); ++n)
        if (issues[n].index == issues[0].index)
            passes.push_back(n);
    const size_t from = passes.size() > 1 ? passes[passes.size() - 2] : 0;
    if (p.kind == Kind::loop)
        return {static_cast<f64>(issues.at(passes.back()).at - issues.at(from).at)};
    std::vector<f64> out;
    for (size_t n = from + 1; n < issues.size() && out.size() < p.intervals.size(); ++n)
        out.push_back(static_cast<f64>(issues[n].at - issues[n - 1].at));
    if (out.size() < p.intervals.size())
        throw std::runtime_error(fmt::format("{}: {} intervals are published, the code has {}",
                                             fact_of(p), p.intervals.size(), out.size()));
    return out;
}

Json row_of(const PublishedTrace &p) {
    const std::vector<f64> modelled = intervals_of(p);
    std::vector<std::string> theirs, ours;
    f64 published_sum = 0, modelled_sum = 0;
    u32 compared = 0, within = 0;
    for (size_t n = 0; n < p.intervals.size(); ++n) {
        const auto [low, high] = p.intervals[n];
        ours.push_back(fmt::format("{}", modelled[n]));
        if (low == 0) {
            theirs.push_back("-");
            continue;
        }
        theirs.push_back(low == high ? fmt::format("{}", low) : fmt::format("{}..{}", low, high));
        const f64 nearest = std::clamp(modelled[n], low, high);
        ++compared;
        within += std::fabs(modelled[n] - nearest) <= 1;
        published_sum += nearest;
        modelled_sum += modelled[n];
    }
    Json row = validated(fact_of(p), "traces", published_sum, modelled_sum);
    row.update({{"gfx", p.gfx},
                {"kind", name(p.kind)},
                {"intervals", compared},
                {"within", within},
                {"_sequence", p.sequence},
                {"_score", fmt::format("{}/{}", within, compared)},
                {"_theirs", fmt::format("{}", fmt::join(theirs, " "))},
                {"_ours", fmt::format("{}", fmt::join(ours, " "))},
                {"_source", p.source}});
    if (p.kind == Kind::loop)
        row["off_pct"] = std::fabs(row["error_pct"].get<f64>());
    return row;
}

// By gfx and kind: the share of intervals within one cycle.
Json agreement(const Json &rows) {
    std::map<std::pair<std::string, std::string>, std::pair<f64, f64>> sums;
    for (const Json &row : rows)
        if (row["kind"] != name(Kind::loop)) {
            auto &[within, all] = sums[{row["gfx"], row["kind"]}];
            within += row["within"].get<f64>();
            all += row["intervals"].get<f64>();
        }
    Json out = Json::array();
    for (const auto &[key, sum] : sums) {
        const f64 pct = 100 * sum.first / sum.second;
        Json row = validated(fmt::format("traces {} {}: within a cycle", key.first, key.second),
                             "agreement", 100, pct);
        row.update({{"gfx", key.first},
                    {"kind", key.second},
                    {"intervals", sum.second},
                    {"within", sum.first},
                    {"within_pct", pct}});
        out.push_back(row);
    }
    return out;
}

} // namespace

Json measure_traces(ModelRun &run) {
    Json rows = Json::array();
    for (const PublishedTrace &p : read_published_traces(NW_BENCH_DATA "/traces.csv")) {
        if (!run.only.found_in(fact_of(p)))
            continue;
        rows.push_back(row_of(p));
        if (run.done)
            run.done(rows.back());
    }
    append(rows, agreement(rows));
    return rows;
}

Table begin_traces(bool verbose) {
    fmt::print(
        "\nCycles from issue to issue of a wave (sim) against thread traces; within: a cycle "
        "off or less.\n-: waits for memory, not compared\n\n");
    return Table(std::string("gfx {gfx:<8}; sequence {_sequence:<34}; kind {kind:<6}; "
                             "within {_score:>7}; error {error_pct:>+7.1f}%") +
                 (verbose ? "; published {_theirs}; modelled {_ours}; by {_source}" : ""));
}

void summarize_traces(const Json &rows) {
    fmt::print("\n");
    for (const Json &row : rows)
        if (row["group"] == "agreement")
            fmt::print("{} {}: {} of {} intervals within a cycle, {:.1f} %\n",
                       row["gfx"].get<std::string>(), row["kind"].get<std::string>(),
                       row["within"].get<f64>(), row["intervals"].get<f64>(),
                       row["within_pct"].get<f64>());
}

} // namespace nw::bench
