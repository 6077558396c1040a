// SPDX-License-Identifier: MIT
// LDS in time: phases and strides (T-052).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/timing/core/lds_banks.h"
#include "sim/timing/run.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

u32 phases(u32 stride, u32 bytes, bool gfx12, bool serial = false, u32 active = ~0u) {
    u64 at[32];
    for (u32 l = 0; l < 32; ++l)
        at[l] = u64{l} * stride;
    return timing::lds_phases(at, active, bytes, gfx12, serial).all;
}

} // namespace

TEST_CASE("consecutive lanes at consecutive places: 1, 2 and 4 phases") {
    for (bool gfx12 : {false, true}) {
        CHECK(phases(4, 4, gfx12) == 1);
        CHECK(phases(8, 8, gfx12) == 2);
        CHECK(phases(16, 16, gfx12) == 4);
    }
}

TEST_CASE("strides conflict as banks do") {
    for (u32 dwords : {1u, 3u, 5u, 31u, 33u})
        CHECK(phases(4 * dwords, 4, false) == 1);
    CHECK(phases(8, 4, false) == 2);
    CHECK(phases(16, 4, false) == 4);
    CHECK(phases(64, 4, false) == 16);
    CHECK(phases(128, 4, false) == 32);
    CHECK(phases(128, 8, true) == 32);
    CHECK(phases(128, 16, true) == 32);
    CHECK(phases(0, 4, false) == 1); // all lanes read one dword
    CHECK(phases(0, 4, false, true) == 32);
    CHECK(phases(128, 4, false, false, 0xff) == 8);
    CHECK(phases(4, 4, false, false, 0) == 0);
}

TEST_CASE("b128 is served in groups of eight lanes, other ones on gfx11 than on gfx12") {
    // Lanes 0-3 and 20-23 in one place each of all banks, the others far away in the same banks.
    u64 at[32];
    for (u32 l = 0; l < 32; ++l)
        at[l] = u64{l % 8} * 16;
    CHECK(timing::lds_phases(at, 0xff, 16, true, false).all == 1);
    CHECK(timing::lds_phases(at, 0xff, 16, false, false).all == 2);
    u64 other[32] = {};
    const u32 group[] = {0, 1, 2, 3, 20, 21, 22, 23};
    u32 active = 0;
    for (u32 n = 0; n < 8; ++n) {
        other[group[n]] = u64{n} * 16;
        active |= 1u << group[n];
    }
    CHECK(timing::lds_phases(other, active, 16, false, false).all == 1);
    CHECK(timing::lds_phases(other, active, 16, true, false).all == 2);
}

TEST_CASE("what lanes in their own banks would not need is a conflict") {
    const auto conflicts = [](u32 stride, u32 bytes, u32 active = ~0u) {
        u64 at[32];
        for (u32 l = 0; l < 32; ++l)
            at[l] = u64{l} * stride;
        return timing::lds_phases(at, active, bytes, false, false).conflicts;
    };
    CHECK(conflicts(4, 4) == 0);
    CHECK(conflicts(16, 16) == 0);
    CHECK(conflicts(8, 4) == 1);
    CHECK(conflicts(128, 4) == 31);
    CHECK(conflicts(128, 16) == 4 * 7);
    CHECK(conflicts(128, 16, 0xf) == 3); // one of the four groups
    CHECK(conflicts(128, 16, 0) == 0);
}

TEST_CASE("a launch counts the cycles of LDS, and those of conflicts") {
    const auto busy = [](u32 shift) {
        TimedLaunch l;
        time({.gfx = "gfx1151",
              .body = fmt::format("v_lshlrev_b32 v9, {}, v0\nds_load_b32 v10, v9\n"
                                  "s_waitcnt lgkmcnt(0)\n",
                                  shift),
              .lds = 8192},
             l);
        return l.result.busy;
    };
    CHECK(busy(2).lds == 1);
    CHECK(busy(2).lds_conflicts == 0);
    CHECK(busy(5).lds == 8);
    CHECK(busy(5).lds_conflicts == 7);
}

TEST_CASE("64 reads take one phase after the other") {
    const auto cycles = [](u32 shift) {
        std::string body = fmt::format("v_lshlrev_b32 v9, {}, v0\n", shift);
        for (u32 n = 0; n < 32; ++n)
            body += fmt::format("ds_load_b32 v{}, v9\n", 10 + n);
        TimedLaunch l;
        time({.gfx = "gfx1100",
              .body = body + "s_waitcnt lgkmcnt(0)\ns_mov_b32 s20, 0\n",
              .lds = 8192},
             l);
        return l.issues("s_mov")[0] - l.issues("ds_load")[0];
    };
    CHECK(cycles(2) == 31 + 31 + 1);          // one phase each
    CHECK(cycles(7) == 32 * 32 - 1 + 31 + 1); // stride 128: 32 each
}
