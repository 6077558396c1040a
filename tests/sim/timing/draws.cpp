// SPDX-License-Identifier: MIT
// Draws of the constants, launches replayed under them, and caches prepared before a launch.
#include <doctest/doctest.h>

#include <algorithm>

#include "sim/timing/constants/draws.h"
#include "sim/timing/run.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;
using timing::Constant;

namespace {

std::vector<Constant> all(const timing::Constants &c) {
    std::vector<Constant> out = constants(c.part);
    for (const Constant &one : constants(c.costs, c.part.gfx))
        out.push_back(one);
    return out;
}

TimedLaunch drawn(const std::string &body, timing::TimingOptions options, bool warm = true) {
    TimedLaunch l;
    l.options = options;
    l.warm = warm;
    time({.gfx = "gfx1151", .body = body}, l);
    return l;
}

const std::string chase = "s_load_b64 s[20:21], s[0:1], 0\nv_mov_b32 v1, 0\ns_waitcnt lgkmcnt(0)\n"
                          "global_load_b32 v1, v1, s[20:21]\ns_waitcnt vmcnt(0)\n"
                          "global_load_b32 v1, v1, s[20:21]\ns_waitcnt vmcnt(0)\n";

} // namespace

TEST_CASE("draws are within the likely ranges; published and measured constants stay") {
    for (const timing::Part &part : timing::parts()) {
        timing::Costs costs = timing::costs_for(part.gfx);
        costs.store_latency += 1; // as by a profile
        const std::vector<Constant> base = all({part, costs});
        for (u32 n = 0; n < timing::usual_draws; ++n) {
            const auto values = all(draw(part, costs, n, timing::usual_draws));
            REQUIRE(values.size() == base.size());
            for (size_t i = 0; i < base.size(); ++i) {
                INFO(part.name, " ", base[i].name, " = ", values[i].value);
                CHECK(base[i].likely.contains(values[i].value));
                if (base[i].origin == nw::Origin::fact || base[i].name == "store_latency")
                    CHECK(values[i].value == base[i].value);
            }
        }
    }
}

TEST_CASE("draws keep the levels of memory in order, and interleaves powers of two") {
    for (const timing::Part &part : timing::parts())
        for (u32 n = 0; n < timing::most_draws; ++n) {
            const auto [p, c] = draw(part, timing::costs_for(part.gfx), n, timing::most_draws);
            INFO(part.name, " draw ", n);
            CHECK(c.scalar_latency < c.l0_latency);
            CHECK(c.l0_latency < c.gl1_latency);
            CHECK(c.gl1_latency < c.l2_latency);
            CHECK(c.l2_latency < p.cycles_of_ns(p.mall_size ? p.mall_latency : p.dram_latency));
            CHECK((p.mall_size ? p.mall_latency : 0) < p.dram_latency);
            CHECK((c.l2_interleave & (c.l2_interleave - 1)) == 0);
            CHECK((p.dram_interleave & (p.dram_interleave - 1)) == 0);
        }
}

TEST_CASE("each fifth of a range is drawn once, the same fifth for every part and time") {
    const timing::Part &part = *timing::find_part("8060S");
    const timing::Costs costs = timing::costs_for(part.gfx);
    std::vector<f64> dram;
    for (u32 n = 0; n < 5; ++n) {
        dram.push_back(draw(part, costs, n, 5).part.dram_latency);
        CHECK(draw(part, costs, n, 5).costs == draw(part, costs, n, 5).costs);
    }
    std::ranges::sort(dram);
    CHECK(dram[2] == part.dram_latency); // in the middle
    CHECK(std::ranges::adjacent_find(dram) == dram.end());
    const timing::Constant latency{"x", "cycles", 20, nw::Origin::guess, {10, 60}, "", ""};
    CHECK(within(latency, 0) == 10);
    CHECK(within(latency, 0.25) == 15);
    CHECK(within(latency, 0.5) == 20);
    CHECK(within(latency, 1) == 60);
    const timing::Constant line{"x", "line", 256, nw::Origin::guess, {128, 1024}, "", ""};
    CHECK(within(line, 0.7) == 512);
}

TEST_CASE("a launch is replayed under each draw and is itself unchanged") {
    const TimedLaunch plain = drawn(chase, {}), with = drawn(chase, {.draws = 5});
    CHECK(plain.result.draws_us.empty());
    REQUIRE(with.result.draws_us.size() == 5);
    CHECK(with.result.cycles == plain.result.cycles);
    CHECK(with.memory == plain.memory);
    const Range range = timing::bounds(with.result.time_us, with.result.draws_us);
    CHECK(range.contains(with.result.time_us));
    CHECK(range.low < range.high);
    CHECK(drawn(chase, {.draws = 5}).result.draws_us == with.result.draws_us);
}

TEST_CASE("a draw's time is that of a device with its constants, warm or cold") {
    for (const bool warm : {false, true}) {
        const TimedLaunch with = drawn(chase, {.draws = 3}, warm);
        for (u32 n = 0; n < 3; ++n) {
            const timing::Part &part = *timing::find_part("8060S");
            const auto constants = draw(part, timing::costs_for(part.gfx), n, 3);
            TimedLaunch alone;
            alone.warm = warm;
            alone.own_costs = true;
            alone.costs = constants.costs;
            alone.part = &constants.part;
            time({.gfx = "gfx1151", .body = chase}, alone);
            CHECK(with.result.draws_us[n] == alone.result.time_us);
        }
    }
}

TEST_CASE("a sampled grid is extrapolated under each draw") {
    TimedLaunch l;
    l.options = {.draws = 2};
    l.exact = false;
    l.grid = {40000, 1, 1};
    time({.gfx = "gfx1151", .body = "s_nop 0\n"}, l);
    CHECK(l.result.groups_timed < l.result.groups);
    for (const f64 us : l.result.draws_us) {
        CHECK(us > l.result.time_us / 20);
        CHECK(us < l.result.time_us * 20);
    }
}

TEST_CASE("a kernel that reads a clock is not replayed") {
    CHECK(drawn("s_getreg_b32 s20, hwreg(HW_REG_SHADER_CYCLES, 0, 20)\n", {.draws = 5})
              .result.draws_us.empty());
}

TEST_CASE("cold weights: data from DRAM at every launch, code as it was; warm code: no misses") {
    const auto misses = [](const TimedLaunch &l) { return l.result.memory.instruction.misses; };
    const TimedLaunch first = drawn(chase, {}, false), again = drawn(chase, {});
    CHECK(misses(first) > 0);
    CHECK(misses(again) == 0);
    CHECK(again.result.memory.dram_read < first.result.memory.dram_read);
    const TimedLaunch cold = drawn(chase, {.cold_data = true});
    CHECK(cold.result.memory.dram_read > again.result.memory.dram_read);
    CHECK(misses(cold) == 0);
    const TimedLaunch fair = drawn(chase, {.cold_data = true, .warm_code = true}, false);
    CHECK(misses(fair) == 0);
    CHECK(fair.result.cycles == cold.result.cycles);
    CHECK(fair.result.cycles < first.result.cycles);
}
