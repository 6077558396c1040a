// SPDX-License-Identifier: MIT
#include "lint/long_waits.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

#include "lint/flights.h"
#include "lint/solve.h"

namespace nw::lint {

namespace {

using namespace sim;

// A completed memory instruction whose result has not been used since the wait.
struct Shadow {
    u32 load, wait;
    u8 counter;
    u8 at;   // younger ones on the counter at the wait: waiting for all but these is enough
    u8 age;  // younger ones here
    u16 far; // instructions from the wait to here

    auto key() const { return std::tuple(load, wait, counter); }
};

struct State {
    InFlight flights;
    std::vector<Shadow> shadows; // by key

    bool join(const State &o) {
        bool news = flights.join(o.flights);
        for (const Shadow &s : o.shadows) {
            const auto at = std::ranges::lower_bound(shadows, s.key(), {}, &Shadow::key);
            if (at == shadows.end() || at->key() != s.key()) {
                shadows.insert(at, s);
                news = true;
                continue;
            }
            news |= s.at < at->at || s.age < at->age || s.far < at->far;
            at->at = std::min(at->at, s.at), at->age = std::min(at->age, s.age);
            at->far = std::min(at->far, s.far);
        }
        return news;
    }
    void forget() { *this = {}; }
};

struct Need {
    u32 load = Finding::nothing, by = Finding::nothing; // by: uses the load's result
    u8 limit = 0;                                       // sufficient limit of the wait
    u16 far = 0;
};

// gfx11 counts LDS and scalar loads together, so a user of one cannot relax the wait for the other.
struct Field {
    std::string_view name;
    std::vector<Counter> counters;
};

std::vector<Field> fields(bool gfx12) {
    if (gfx12)
        return {{"s_wait_loadcnt", {Counter::load}},     {"s_wait_dscnt", {Counter::lds}},
                {"s_wait_kmcnt", {Counter::smem}},       {"s_wait_expcnt", {Counter::exp}},
                {"s_wait_samplecnt", {Counter::sample}}, {"s_wait_bvhcnt", {Counter::bvh}}};
    return {{"vmcnt", {Counter::load, Counter::sample, Counter::bvh}},
            {"lgkmcnt", {Counter::lds, Counter::smem}},
            {"expcnt", {Counter::exp}}};
}

class LongWaits {
public:
    LongWaits(const Flow &flow, const Facts &facts) : flow_(flow), facts_(facts) {}

    // `note`: records uses; off during the fixed-point iteration.
    void step(State &state, u32 i, bool note) {
        const Fact &fact = facts_[i];
        for (Shadow &s : state.shadows)
            s.far += s.far < 0xffff;
        if (fact.waits)
            return wait(state, i, fact.limits);
        std::erase_if(state.shadows, [&](const Shadow &s) {
            const bool touched = touches(fact, i, s);
            if (touched && note)
                need(s, i);
            return touched;
        });
        if (!fact.issues.any())
            return;
        for (Shadow &s : state.shadows)
            s.age += fact.issues.on[s.counter] && s.age < InFlight::many;
        state.flights.issue(i, fact.issues);
    }
    // The callee may use everything.
    void leave(const State &state, u32 last) {
        for (const Shadow &s : state.shadows)
            need(s, last);
    }
    void look(const State &state, u32 i) {
        if (!facts_[i].waits)
            return;
        for (unsigned c = 0; c < InFlight::counters; ++c)
            for (const InFlight::Flight &f : state.flights.flights())
                if (lands(f.age[c], c, facts_[i].limits))
                    landing_.emplace(i, c);
    }
    Findings findings() const;

private:
    static bool lands(u8 age, unsigned c, const WaitLimits &limits) {
        const u32 limit = limits.limit[c];
        return static_cast<Counter>(c) != Counter::store && limit != WaitLimits::unlimited &&
               (!InFlight::in_any_order(c) || limit == 0) && age != InFlight::landed &&
               age >= limit;
    }

    void wait(State &state, u32 i, const WaitLimits &limits) const {
        std::erase_if(state.shadows,
                      [&](const Shadow &s) { return lands(s.age, s.counter, limits); });
        for (const InFlight::Flight &f : state.flights.flights())
            for (unsigned c = 0; c < InFlight::counters; ++c)
                if (lands(f.age[c], c, limits))
                    state.shadows.push_back(
                        {f.instruction, i, static_cast<u8>(c), f.age[c], f.age[c], 0});
        std::ranges::sort(state.shadows, {}, &Shadow::key);
        state.flights.wait(limits);
    }

    // Other waves may access LDS after a barrier; atomics and cache invalidations are ordered with
    // all of memory.
    bool touches(const Fact &fact, u32 i, const Shadow &s) const {
        const RegisterSet &loaded = facts_[s.load].writes;
        if (loaded.intersects(fact.reads) || loaded.intersects(fact.writes))
            return true;
        if (static_cast<Counter>(s.counter) == Counter::exp)
            return facts_[s.load].reads.intersects(fact.writes) ||
                   (facts_[s.load].exports && fact.changes_exec());
        if (fact.barrier && static_cast<Counter>(s.counter) == Counter::lds)
            return true;
        const std::string_view n = flow_.code().instructions[i].x.mnemonic;
        return n.find("_atomic_") != n.npos || n.ends_with("_inv") || n.ends_with("_wb");
    }

    void need(const Shadow &s, u32 by) {
        auto [at, fresh] = needs_.try_emplace({s.wait, s.counter}, Need{s.load, by, s.at, s.far});
        if (!fresh && std::pair(s.at, s.far) < std::pair(at->second.limit, at->second.far))
            at->second = {s.load, by, s.at, s.far};
    }

    void look(const Field &, u32 wait, Findings &) const;

    std::string_view text(u32 i) const { return flow_.code().instructions[i].text; }

    const Flow &flow_;
    const Facts &facts_;
    std::map<std::pair<u32, unsigned>, Need> needs_; // by wait and counter
    std::set<std::pair<u32, unsigned>> landing_;     // waits that wait, and on which counter
};

void LongWaits::look(const Field &field, u32 wait, Findings &found) const {
    const Need *least = nullptr;
    bool lands = false;
    u32 limit = 0;
    for (Counter counter : field.counters) {
        const auto c = static_cast<unsigned>(counter);
        if (!landing_.contains({wait, c}))
            continue;
        lands = true, limit = facts_[wait].limits.limit[c];
        const auto at = needs_.find({wait, c});
        if (at == needs_.end())
            continue;
        if (InFlight::in_any_order(c))
            return; // needs 0
        if (!least || at->second.limit < least->limit)
            least = &at->second;
    }
    const auto said = [&](u32 n) {
        return facts_.gfx12() ? fmt::format("{} {}", field.name, n)
                              : fmt::format("{}({})", field.name, n);
    };
    if (lands && !least)
        found.push_back(
            {Rule::long_wait, wait, Finding::nothing,
             fmt::format("nothing that {} waits for is used before a later wait covers it",
                         said(limit)),
             fmt::format("leave {} out", said(limit))});
    else if (lands && least->limit > limit)
        found.push_back(
            {Rule::long_wait, wait, least->by,
             fmt::format(
                 "{} is enough: of what it waits for, {} is used first, {} instructions later",
                 said(least->limit), text(least->load), least->far),
             fmt::format("wait with {}", said(least->limit))});
}

Findings LongWaits::findings() const {
    Findings found;
    std::set<u32> waits;
    for (const auto &[wait, counter] : landing_)
        waits.insert(wait);
    for (u32 wait : waits)
        for (const Field &field : fields(facts_.gfx12()))
            look(field, wait, found);
    return found;
}

} // namespace

Findings find_long_waits(const Flow &flow, const Facts &facts) {
    LongWaits waits(flow, facts);
    const auto at = solve(flow, State{}, [&](State &state, u32 i) { waits.step(state, i, false); });
    for (u32 n = 0; n < at.size(); ++n) {
        if (!at[n])
            continue;
        const Block &block = flow.blocks()[n];
        State state = *at[n];
        for (u32 i = block.first; i < block.end; ++i) {
            waits.look(state, i);
            waits.step(state, i, true);
        }
        if (block.unknown_call)
            waits.leave(state, block.end - 1);
    }
    return waits.findings();
}

} // namespace nw::lint
