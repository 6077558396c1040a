// SPDX-License-Identifier: MIT
// Which workgroup gets which SIMDs (T-003, T-057).
#include <doctest/doctest.h>
#include <set>

#include "sim/timing/core/dispatcher.h"

using namespace nw;
using namespace nw::sim;
using timing::Dispatcher;
using timing::Placement;

namespace {

constexpr u32 wgp_mode = 1u << 29, kib = 1024;

Dispatcher dispatcher(u32 mode, u32 waves, u32 lds_bytes, u32 items = 32) {
    KernelInfo kernel{};
    kernel.rsrc1 = mode; // 8 VGPRs
    kernel.wave_size = 32;
    kernel.max_workgroup = items == 32 ? 1024 : items;
    kernel.lds_bytes = lds_bytes;
    Dispatch d{};
    d.kernel = &kernel;
    d.block = {waves * items, 1, 1};
    return {*timing::find_part("860M"), *find_device("gfx1152"), kernel, d};
}

std::set<u32> halves(const Placement &p) {
    std::set<u32> out;
    for (u32 simd : p.simds)
        out.insert(simd / 2);
    return out;
}

} // namespace

TEST_CASE("workgroups go to WGPs in turn, and to the halves of a WGP in turn") {
    for (u32 mode : {0u, wgp_mode}) {
        Dispatcher d = dispatcher(mode, 4, 0);
        for (u32 round = 0; round < 2; ++round)
            for (u32 wgp = 0; wgp < 4; ++wgp) {
                const Placement p = *d.place();
                CHECK(p.wgp == wgp);
                CHECK(halves(p) == (mode ? std::set<u32>{2 * wgp, 2 * wgp + 1}
                                         : std::set<u32>{2 * wgp + round}));
            }
    }
}

TEST_CASE("in CU mode a half has 64 KiB of LDS and two SIMDs, and room in two halves is none") {
    CHECK(dispatcher(wgp_mode, 4, 40 * kib).resident() == 4 * 3);
    CHECK(dispatcher(0, 4, 40 * kib).resident() == 4 * 2);
    CHECK(dispatcher(wgp_mode, 24, 0).resident() == 4 * 2); // 48 of 64 wave slots
    CHECK(dispatcher(0, 24, 0).resident() == 4 * 2);        // 24 of 32 in each half
    CHECK(dispatcher(wgp_mode, 20, 0).resident() == 4 * 3);
    CHECK(dispatcher(0, 20, 0).resident() == 4 * 2);
    Dispatcher d = dispatcher(0, 20, 0);
    for (u32 n = 0; n < 8; ++n)
        CHECK(halves(*d.place()).size() == 1);
    CHECK(!d.place());
}

TEST_CASE("a kernel of at most 16 work-items fills a SIMD with waves as others do") {
    CHECK(dispatcher(wgp_mode, 1, 64, 16).resident() == 4 * 64);
}

TEST_CASE("a place that was given back is the next one taken") {
    for (u32 mode : {0u, wgp_mode}) {
        Dispatcher d = dispatcher(mode, 32, 0);
        std::vector<Placement> all;
        while (auto p = d.place())
            all.push_back(*p);
        REQUIRE(all.size() == d.resident());
        d.release(all[3]);
        const Placement again = *d.place();
        CHECK(again.wgp == all[3].wgp);
        CHECK(halves(again) == halves(all[3]));
        CHECK(!d.place());
    }
}
