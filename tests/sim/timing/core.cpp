// SPDX-License-Identifier: MIT
// Scalar instructions, branches, barriers, waits and dispatch in time (T-051, T-055 to T-057).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/timing/run.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

TimedLaunch timed(const std::string &body, const std::string &gfx = "gfx1100") {
    TimedLaunch l;
    time({.gfx = gfx, .body = body, .lds = 1024}, l);
    return l;
}

// Issue of the instruction after the first one with this mnemonic, since that one's.
u64 to_next(const TimedLaunch &l, std::string_view mnemonic) {
    for (size_t n = 0; n + 1 < l.events.size(); ++n)
        if (l.mnemonic(l.events[n]) == mnemonic)
            return l.events[n + 1].issue - l.events[n].issue;
    return 0;
}

} // namespace

TEST_CASE("SALU: one a cycle, a dependent one after two") {
    const auto independent = timed("s_mov_b32 s20, 1\ns_mov_b32 s21, 1\ns_mov_b32 s22, 1\n");
    CHECK(deltas(independent.issues("s_mov")) == std::vector<u64>{1, 1});
    const auto chain =
        timed("s_mov_b32 s20, 1\ns_add_u32 s20, s20, s20\ns_add_u32 s20, s20, s20\n");
    CHECK(deltas(chain.issues("s_add")) == std::vector<u64>{2});
}

TEST_CASE("branches: taken 27 on gfx1100 and 9 on gfx1201, not taken 3, 10 after the comparison") {
    const std::string taken = "s_branch L\ns_nop 0\nL:\ns_mov_b32 s20, 1\n";
    CHECK(to_next(timed(taken), "s_branch") == 27);
    CHECK(to_next(timed(taken, "gfx1201"), "s_branch") == 9);
    const auto l = timed("s_cmp_eq_u32 s2, s2\ns_cbranch_scc0 L\ns_mov_b32 s20, 1\nL:\n");
    CHECK(to_next(l, "s_cmp_eq_u32") == 10);
    CHECK(to_next(l, "s_cbranch_scc0") == 3);
    const auto execz = timed("v_mov_b32 v1, 1.0\nv_cmpx_eq_f32 v1, v1\ns_cbranch_execz L\nL:\n");
    const u64 gap = execz.issues("s_cbranch")[0] - execz.issues("v_cmpx")[0];
    CHECK(gap >= 17);
    CHECK(gap <= 21); // the source of v_cmpx is itself fresh
}

TEST_CASE("a memory instruction waits for the wave's VALU instructions, needed or not") {
    const auto l =
        timed("v_mov_b32 v9, 0\ns_nop 15\ns_nop 15\nv_add_f32 v1, v9, v9\nds_load_b32 v2, v9\n"
              "s_waitcnt lgkmcnt(0)\n");
    const u64 gap = l.issues("ds_load")[0] - l.issues("v_add")[0];
    CHECK(gap >= 17);
    CHECK(gap <= 18);
}

TEST_CASE("a wave's first instruction issues 32 cycles after its start") {
    const auto l = timed("s_nop 0\n");
    CHECK(l.result.stalls[static_cast<size_t>(timing::Stall::start)] == 32);
}

TEST_CASE("a barrier lets all go 14 cycles after the last arrival") {
    for (const char *gfx : {"gfx1100", "gfx1201"}) {
        CAPTURE(gfx);
        const std::string barrier =
            is_gfx12(gfx) ? "s_barrier_signal -1\ns_barrier_wait -1\n" : "s_barrier\n";
        TimedLaunch l;
        l.block = {256, 1, 1};
        time({.gfx = gfx,
              .body = "v_cmp_gt_u32 vcc_lo, 32, v0\ns_cbranch_vccz L\ns_nop 15\ns_nop 15\ns_nop "
                      "15\nL:\n" +
                      barrier + "s_mov_b32 s20, 1\n"},
             l);
        u64 last_arrival = 0, first_after = ~u64{0}, last_after = 0;
        for (const auto &e : l.events) {
            if (l.mnemonic(e) == (is_gfx12(gfx) ? "s_barrier_signal" : "s_barrier"))
                last_arrival = std::max(last_arrival, e.issue);
            if (l.mnemonic(e) == "s_mov_b32")
                first_after = std::min(first_after, e.issue),
                last_after = std::max(last_after, e.issue);
        }
        CHECK(first_after - last_arrival >= 13);
        CHECK(last_after - last_arrival <= 16);
    }
}

TEST_CASE("waits end when the data is there") {
    const auto l =
        timed("v_mov_b32 v9, 0\nds_load_b32 v2, v9\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s20, 1\n");
    const u64 gap = l.issues("s_mov")[0] - l.issues("ds_load")[0];
    CHECK(gap >= 31);
    CHECK(gap <= 33);
}

TEST_CASE("modelled time reaches kernels through their clock, and results stay what they were") {
    for (const char *gfx : {"gfx1100", "gfx1201"}) {
        CAPTURE(gfx);
        TimedLaunch l;
        l.words = 2;
        time({.gfx = gfx,
              .body = "s_getreg_b32 s20, hwreg(29, 0, 20)\n"
                      "s_nop 15\ns_nop 15\n"
                      "s_getreg_b32 s21, hwreg(29, 0, 20)\n"
                      "s_sub_u32 s21, s21, s20\nv_mov_b32 v1, s21\nv_mov_b32 v0, 0\n"
                      "global_store_b32 v0, v1, s[2:3]\n"},
             l);
        CHECK(l.memory[0] == deltas(l.issues("s_getreg"))[0]);
        CHECK(l.memory[0] > 32);
    }
}

TEST_CASE("a large grid is extrapolated from its first workgroups") {
    const KernelText kernel{
        .body = "s_mov_b32 s20, 50\nL:\nv_add_f32 v1, v1, v1\ns_sub_u32 s20, s20, 1\n"
                "s_cmp_lg_u32 s20, 0\ns_cbranch_scc1 L\n"};
    TimedLaunch exact, sampled;
    exact.grid = sampled.grid = {20000, 1, 1};
    exact.block = sampled.block = {256, 1, 1};
    sampled.exact = false;
    time(kernel, exact);
    time(kernel, sampled);
    CHECK(exact.result.groups_timed == 20000);
    CHECK(exact.result.sampling_error == 0);
    CHECK(sampled.result.groups_timed < 5000);
    CHECK(sampled.stats.insts.total() == exact.stats.insts.total());
    CHECK(sampled.result.sampling_error < 0.02);
    CHECK(static_cast<f64>(sampled.result.cycles) ==
          doctest::Approx(static_cast<f64>(exact.result.cycles)).epsilon(0.02));
}

TEST_CASE("a wave leaves its slot at s_endpgm: no more waves than slots, whatever is outstanding") {
    TimedLaunch l; // a copy
    l.grid = {16384, 1, 1};
    l.block = {256, 1, 1};
    l.words = 1 << 23;
    l.warm = l.watched = false;
    time({.gfx = "gfx1102",
          .body = "s_lshl_b32 s15, s15, 10\nv_lshl_or_b32 v2, v0, 2, s15\n"
                  "global_load_b32 v3, v2, s[2:3]\nv_add_nc_u32 v2, 0x1000000, v2\n"
                  "s_waitcnt vmcnt(0)\nglobal_store_b32 v2, v3, s[2:3]\n",
          .vgprs = 32},
         l);
    CHECK(l.result.occupancy > 12);
    CHECK(l.result.occupancy <= 16);
}

TEST_CASE("s_endpgm waits for stores if endpgm_waits says so") {
    for (const u32 waits : {0, 1}) {
        TimedLaunch l;
        l.grid = {1, 1, 1};
        l.own_costs = true;
        l.costs = timing::costs_for("gfx1100");
        l.costs.endpgm_waits = waits;
        time({.gfx = "gfx1100",
              .body = "v_lshlrev_b32 v2, 2, v0\nglobal_store_b32 v2, v0, s[2:3]\n"},
             l);
        const u64 after = l.issues("s_endpgm").back() - l.issues("global_store").back();
        CHECK((after >= l.costs.store_latency) == (waits == 1));
    }
}

TEST_CASE("requests to caches have a cost, padding after the end needs none") {
    const auto cost = [](const std::string &what, const std::string &gfx) {
        const auto l = timed(what + "\ns_mov_b32 s20, 1\n", gfx);
        CAPTURE(what);
        CHECK(l.result.unknown.empty());
        return to_next(l, what.substr(0, what.find(' ')));
    };
    const timing::Costs c = timing::costs_for("gfx1100");
    for (const char *what : {"buffer_gl0_inv", "buffer_gl1_inv", "s_dcache_inv", "s_icache_inv"})
        CHECK(cost(what, "gfx1100") == c.cache_maintenance);
    for (const char *what : {"global_inv scope:SCOPE_DEV", "global_wb scope:SCOPE_DEV",
                             "global_wbinv scope:SCOPE_SYS", "s_dcache_inv"})
        CHECK(cost(what, "gfx1201") == c.cache_maintenance);
    CHECK(cost("s_prefetch_data s[0:1], 0, s20, 0", "gfx1201") == c.cache_prefetch);
    CHECK(timed("s_endpgm\n.fill 8, 4, 0\n").result.unknown.empty());
}
