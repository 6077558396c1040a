// SPDX-License-Identifier: MIT
#include "lint/flights.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include "lint/hazards.h"
#include "lint/path_states.h"

namespace nw::lint {

namespace {

using namespace sim;
using Flight = InFlight::Flight;

// Limit of the analysis: instructions in flight on all paths, summed over all visits of blocks.
// Beyond it conditions are not tracked. The collection's kernels need a tenth of it; random code
// would not finish.
constexpr u64 most_work = 4'000'000;

constexpr bool on(const Issues &issues, Counter c) { return issues.on[static_cast<size_t>(c)]; }

// "s_waitcnt vmcnt(2)"
std::string wait_for(unsigned counter, u32 younger, bool gfx12) {
    switch (static_cast<Counter>(counter)) {
    case Counter::sample:
    case Counter::bvh:
        if (gfx12)
            return fmt::format("s_wait_{}cnt {}",
                               static_cast<Counter>(counter) == Counter::bvh ? "bvh" : "sample",
                               younger);
        [[fallthrough]];
    case Counter::load:
        return gfx12 ? fmt::format("s_wait_loadcnt {}", younger)
                     : fmt::format("s_waitcnt vmcnt({})", younger);
    case Counter::store:
        return gfx12 ? fmt::format("s_wait_storecnt {}", younger)
                     : fmt::format("s_waitcnt_vscnt null, {}", younger);
    case Counter::lds:
        return gfx12 ? fmt::format("s_wait_dscnt {}", younger)
                     : fmt::format("s_waitcnt lgkmcnt({})", younger);
    case Counter::exp:
        return gfx12 ? "s_wait_expcnt 0" : "s_waitcnt expcnt(0)";
    default:
        return gfx12 ? "s_wait_kmcnt 0" : "s_waitcnt lgkmcnt(0)";
    }
}

std::string remedy(const Flight &f, bool gfx12) {
    std::vector<std::string> waits;
    for (unsigned c = 0; c < InFlight::counters; ++c)
        if (f.age[c] != InFlight::landed)
            waits.push_back(wait_for(c, f.age[c], gfx12));
    return fmt::format("put {} before", fmt::join(waits, " and "));
}

// Collects findings, each pair of instructions once.
class Watch {
public:
    Watch(const Flow &flow, const Facts &facts) : code_(flow.code()), facts_(facts) {}

    void look(const PathStates<InFlight> &paths, u32 i) {
        const Fact &fact = facts_[i];
        bool idle = fact.waits;
        for (const auto &path : paths.all()) {
            idle &= waits_for_nothing(path.state, fact.limits);
            for (const Flight &f : path.state.flights())
                look(f, i, fact);
        }
        if (idle)
            findings_.push_back({Rule::idle_wait, i, Finding::nothing,
                                 "redundant wait: at most that many are outstanding on every path",
                                 "leave it out"});
    }

    void report_many_paths() {
        findings_.push_back({Rule::many_paths, Finding::nothing, Finding::nothing,
                             "too many paths: findings may be on infeasible paths, and only waits "
                             "for 0 are followed",
                             "use fewer branches, or smaller kernels"});
    }

    // Keeps the first finding of each memory instruction: its remedy also fixes later ones.
    Findings take() {
        std::set<std::pair<Rule, u32>> seen;
        std::ranges::stable_sort(findings_, {}, &Finding::instruction);
        std::erase_if(findings_, [&](const Finding &f) {
            return f.other != Finding::nothing && !seen.emplace(f.rule, f.other).second;
        });
        return std::move(findings_);
    }

private:
    void look(const Flight &f, u32 i, const Fact &fact) {
        registers(f, i, fact);
        if (fact.barrier && facts_[f.instruction].to_lds)
            add(Rule::barrier_lds, i, f,
                fmt::format("the barrier is signalled while {} is outstanding: other waves may "
                            "read LDS too early",
                            text(f.instruction)));
        if (fact.uses_lds && facts_[f.instruction].dma_to_lds)
            add(Rule::lds_in_flight, i, f,
                fmt::format("LDS is accessed while {}, which writes it, is in flight",
                            text(f.instruction)));
        if (fact.system_store && !is_landed(f, {Counter::load, Counter::smem, Counter::store}))
            add_hazard(Hazard::system_store, i, f, "the value");
        if (fact.role.dealloc_vgprs && facts_[f.instruction].to_scratch &&
            !is_landed(f, {Counter::store}))
            add_hazard(Hazard::dealloc_scratch, i, f, "the scratch memory");
    }

    std::string_view text(u32 i) const { return code_.instructions[i].text; }

    static bool is_landed(const Flight &f, std::initializer_list<Counter> counters) {
        return std::ranges::all_of(
            counters, [&](Counter c) { return f.age[static_cast<size_t>(c)] == InFlight::landed; });
    }

    // A flat load that LDS is waited for is one from memory (H-010).
    static Issues outstanding(const Flight &f, Issues issues) {
        issues.on[static_cast<size_t>(Counter::lds)] &= !is_landed(f, {Counter::lds});
        return issues;
    }

    // The first register is enough: one wait serves all.
    void registers(const Flight &f, u32 i, const Fact &fact) {
        const Fact &load = facts_[f.instruction];
        if (on(load.issues, Counter::exp) && fact.writes.intersects(load.reads))
            return exported(f, i, fact);
        if (load.exports && fact.changes_exec())
            return add_exported(f, i, "EXEC");
        if (!load.writes.intersects(fact.reads) && !load.writes.intersects(fact.writes))
            return;
        const Issues left = outstanding(f, load.issues);
        for (const RegisterUse &use : fact.role.uses) {
            for (const RegisterUse &loaded : load.role.uses)
                if (loaded.write && clashes(loaded, left, use, fact.issues, facts_.target()))
                    return report(f, i, fact, use, std::max(loaded.first, use.first));
        }
    }

    void exported(const Flight &f, u32 i, const Fact &fact) {
        for (const RegisterUse &use : fact.role.uses)
            for (unsigned n = 0; use.write && n < use.count; ++n)
                if (facts_[f.instruction].reads.has(use.place(n)))
                    return add_exported(f, i, register_name(use.bank, use.first + n));
    }

    void add_exported(const Flight &f, u32 i, std::string_view what) {
        add(Rule::export_overwritten, i, f,
            fmt::format("{} is overwritten while {}, which reads it, is in flight", what,
                        text(f.instruction)));
    }

    void report(const Flight &f, u32 i, const Fact &fact, const RegisterUse &use, u32 reg) {
        const bool two_loads = use.write && on(facts_[f.instruction].issues, Counter::load) &&
                               on(fact.issues, Counter::load);
        if (two_loads && facts_.gfx12())
            return add_hazard(Hazard::load_order, i, f, register_name(use.bank, reg));
        add(use.write ? Rule::written_in_flight : Rule::read_in_flight, i, f,
            fmt::format("{} is {} while {}, which writes it, is in flight{}",
                        register_name(use.bank, reg), use.write ? "overwritten" : "read",
                        text(f.instruction),
                        two_loads ? ": loads return in any order (H-010)" : ""));
    }

    void add(Rule rule, u32 i, const Flight &f, std::string what) {
        findings_.push_back({rule, i, f.instruction, std::move(what), remedy(f, facts_.gfx12())});
    }
    void add_hazard(Hazard h, u32 i, const Flight &f, std::string_view subject) {
        findings_.push_back(finding_of(h, i, f.instruction, subject));
    }

    static bool waits_for_nothing(const InFlight &state, const WaitLimits &limits) {
        for (unsigned c = 0; c < InFlight::counters; ++c)
            if (limits.limit[c] != WaitLimits::unlimited && state.most(c) > limits.limit[c])
                return false;
        return true;
    }

    const Code &code_;
    const Facts &facts_;
    Findings findings_;
};

void step(InFlight &state, u32 i, const Fact &fact, const Facts &facts) {
    if (fact.waits)
        state.wait(fact.limits);
    else if (fact.is_first.awaited)
        state.land_if(
            [&](u32 flight) { return facts[flight].is_first.signalled == fact.is_first.awaited; });
    else if (fact.issues.any())
        state.issue(i, fact.issues);
}

} // namespace

bool InFlight::join(const InFlight &o) {
    bool news = false;
    for (unsigned c = 0; c < counters; ++c)
        if (o.most_[c] > most_[c])
            most_[c] = o.most_[c], news = true;
    for (const Flight &f : o.flights_) {
        const auto at = std::ranges::lower_bound(flights_, f.instruction, {}, &Flight::instruction);
        if (at == flights_.end() || at->instruction != f.instruction) {
            flights_.insert(at, f);
            news = true;
            continue;
        }
        for (unsigned c = 0; c < counters; ++c)
            if (f.age[c] < at->age[c])
                at->age[c] = f.age[c], news = true;
    }
    return news;
}

void InFlight::wait(const WaitLimits &limits) {
    for (unsigned c = 0; c < counters; ++c) {
        const u32 limit = limits.limit[c];
        if (limit == WaitLimits::unlimited || (in_any_order(c) && limit != 0))
            continue;
        for (Flight &f : flights_)
            if (f.age[c] != landed && f.age[c] >= limit)
                f.age[c] = landed;
        most_[c] = static_cast<u8>(std::min<u32>(most_[c], limit));
    }
    std::erase_if(flights_, [](const Flight &f) {
        return std::ranges::all_of(f.age, [](u8 age) { return age == landed; });
    });
}

void InFlight::issue(u32 instruction, const Issues &issues) {
    auto at = std::ranges::lower_bound(flights_, instruction, {}, &Flight::instruction);
    if (at == flights_.end() || at->instruction != instruction) {
        Flight fresh{instruction, {}};
        fresh.age.fill(landed);
        at = flights_.insert(at, fresh);
    }
    for (unsigned c = 0; c < counters; ++c) {
        if (!issues.on[c])
            continue;
        for (Flight &f : flights_)
            if (f.age[c] < many && !coarse_)
                ++f.age[c];
        at->age[c] = 0;
        most_[c] = std::min<u8>(many, most_[c] + 1);
    }
}

Findings find_in_flight(const Flow &flow, const Facts &facts) {
    const Conditions conditions(flow, facts);
    const Code &code = flow.code();
    const auto advance = [&](PathStates<InFlight> &paths, u32 i) {
        paths.step(conditions[i], [&](InFlight &state) { step(state, i, facts[i], facts); });
    };
    u64 work = 0;
    const auto on = [&](const PathStates<InFlight> &paths, const Block &block,
                        u32 next) -> std::optional<PathStates<InFlight>> {
        for (const auto &path : paths.all())
            work += 1 + path.state.flights().size();
        if (work > most_work)
            return std::nullopt;
        const u32 last = block.end - 1;
        const std::string_view n = code.instructions[last].x.mnemonic;
        const bool falls = flow.blocks()[next].first == block.end;
        PathStates<InFlight> there = n.starts_with("s_cbranch_scc") && block.next.size() == 2
                                         ? paths.where((n == "s_cbranch_scc1") != falls)
                                         : paths;
        there = there.keeping(conditions.wanted(next), conditions.wants_scc(next));
        return there.empty() ? std::nullopt : std::optional(std::move(there));
    };
    auto at = solve(flow, PathStates(InFlight{}), advance, on);
    Watch watch(flow, facts);
    if (work > most_work) {
        watch.report_many_paths();
        at = solve(flow, PathStates(InFlight::coarse()), advance,
                   [](const PathStates<InFlight> &paths, const Block &, u32) {
                       return std::optional(paths.keeping(0, false));
                   });
    }
    each_state(flow, at, [&](PathStates<InFlight> &paths, u32 i) {
        watch.look(paths, i);
        advance(paths, i);
    });
    return watch.take();
}

} // namespace nw::lint
