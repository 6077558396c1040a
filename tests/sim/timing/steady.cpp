// SPDX-License-Identifier: MIT
// Long loops: skipped iterations change modelled times by at most 1 %, and are counted.
#include <cmath>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/timing/run.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

// Each wave loads a part of a tile, shares it in LDS, and computes with all of it.
std::string tile_loop(u32 iterations, const std::string &compute) {
    return fmt::format("v_lshlrev_b32 v1, 4, v0\nv_mov_b32 v2, v1\ns_mov_b32 s20, {}\n"
                       "L_loop:\n"
                       "global_load_b128 v[4:7], v2, s[2:3]\nv_add_nc_u32 v2, 0x800, v2\n"
                       "s_waitcnt vmcnt(0)\ns_barrier\n"
                       "ds_store_b128 v1, v[4:7]\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
                       "ds_load_b128 v[8:11], v1\nds_load_b128 v[12:15], v1 offset:1024\n"
                       "s_waitcnt lgkmcnt(0)\n{}"
                       "s_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\ns_cbranch_scc1 L_loop\n",
                       iterations, compute);
}

timing::Result timed(const std::string &body, u32 groups, bool exact) {
    TimedLaunch l;
    l.grid = {groups, 1, 1};
    l.block = {128, 1, 1};
    l.words = 1 << 18;
    l.exact = exact;
    l.warm = l.watched = false;
    l.config.fast_math = true;
    time({.body = body, .vgprs = 96, .lds = 60 << 10}, l); // two workgroups in a WGP
    return l.result;
}

void check_error(const std::string &body, u32 groups) {
    const timing::Result exact = timed(body, groups, true), on = timed(body, groups, false);
    CHECK(exact.sampling_error == 0);
    CHECK(on.sampling_error > 0);
    CHECK(std::abs(static_cast<f64>(on.cycles) / static_cast<f64>(exact.cycles) - 1) <= 0.01);
    CHECK(on.insts == exact.insts);
    CHECK(on.memory.requests == exact.memory.requests);
    CHECK(on.memory.sectors == exact.memory.sectors);
}

} // namespace

TEST_CASE("a GEMM's loop: at most 1 % from the exact time") {
    std::string compute;
    for (u32 n = 0; n < 48; ++n)
        compute += fmt::format("v_fmac_f32 v{}, v{}, v{}\n", 20 + n, 8 + n % 4, 12 + n % 3);
    check_error(tile_loop(400, compute), 256);
    check_error(tile_loop(400, compute), 290); // its last generation is not full
}

TEST_CASE("a loop of WMMAs: at most 1 % from the exact time") {
    std::string compute;
    for (u32 n = 0; n < 4; ++n)
        compute += fmt::format("v_wmma_f32_16x16x16_f16 v[{0}:{1}], v[8:15], v[8:15], v[{0}:{1}]\n",
                               20 + 8 * n, 27 + 8 * n);
    for (u32 n = 0; n < 16; ++n)
        compute += fmt::format("v_add_nc_u32 v{0}, 1, v{0}\n", 56 + n);
    check_error(tile_loop(300, compute), 256);
}

namespace {

// Each wave adds in a loop of `iterations`, a register.
std::string adds(const std::string &iterations) {
    return iterations +
           "L_loop:\nv_add_f32 v1, v1, v1\nv_add_f32 v2, v2, v2\ns_sub_u32 s20, s20, 1\n"
           "s_cmp_lg_u32 s20, 0\ns_cbranch_scc1 L_loop\n";
}

timing::Result grid_timed(const KernelText &kernel, u32 groups, bool exact, bool times = false) {
    TimedLaunch l;
    l.grid = {groups, 1, 1};
    l.block = {128, 1, 1};
    l.exact = exact;
    l.times = times;
    l.warm = l.watched = false;
    time(kernel, l);
    return l.result;
}

f64 error(const timing::Result &r, const timing::Result &exact) {
    return std::abs(static_cast<f64>(r.cycles) / static_cast<f64>(exact.cycles) - 1);
}

} // namespace

TEST_CASE("equal generations are left out, the last one is not: at most 1 % from the exact time") {
    for (u32 groups : {800u, 815u, 839u}) { // 20 generations of 40, two in a WGP; and the rest
        CAPTURE(groups);
        const KernelText kernel{.body = adds("s_movk_i32 s20, 300\n"), .lds = 60 << 10};
        const timing::Result exact = grid_timed(kernel, groups, true);
        for (bool times : {false, true}) {
            const timing::Result r = grid_timed(kernel, groups, false, times);
            CHECK(r.groups_timed < groups / 2);
            CHECK((groups - r.groups_timed) % 40 == 0);
            CHECK(error(r, exact) <= 0.01);
        }
    }
}

TEST_CASE("generations that take longer and longer are all timed") {
    // 50 iterations more than the workgroup's number.
    const KernelText kernel{
        .gfx = "gfx1201", .body = adds("s_add_u32 s20, ttmp9, 50\n"), .lds = 60 << 10};
    const timing::Result exact = grid_timed(kernel, 800, true);
    const timing::Result r = grid_timed(kernel, 800, false);
    CHECK(r.groups_timed == 800);
    CHECK(r.cycles == exact.cycles);
}
