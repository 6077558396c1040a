// SPDX-License-Identifier: MIT
// Entry state of a wave's registers, on every gfx (isa_notes A-001, A-003).
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "sim/assemble.h"
#include "sim/check/checks.h"
#include "sim/func/wave.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

std::string group_id(const std::string &gfx) { return std::string(target_of(gfx).wg_x); }

// Stores `scalar` as it is at entry, before the prologue of test kernels overwrites s[2:5], to
// out[group * 32 + lane].
std::vector<u32> at_entry(const std::string &gfx, const std::string &scalar, u32 groups) {
    KernelText k;
    k.gfx = gfx;
    k.body = R"(
  v_lshl_add_u32 v1, s21, 5, v0
  v_lshlrev_b32 v1, 2, v1
  v_mov_b32 v2, s20
  global_store_b32 v1, v2, s[2:3])";
    k.entry = "  s_mov_b32 s20, " + scalar + "\n  s_mov_b32 s21, " + group_id(gfx) + "\n";
    auto program = load(k);
    Memory memory;
    auto out = static_cast<u32 *>(memory.allocate(groups * 32 * 4));
    u64 arguments[2] = {reinterpret_cast<u64>(out), 0};
    Dispatch d;
    d.program = program.get();
    d.kernel = program->find_kernel("test");
    d.grid = {groups, 1, 1};
    d.block = {32, 1, 1};
    d.kernarg = std::as_bytes(std::span(arguments));
    sim::run(d, memory, *find_device(gfx), {});
    return {out, out + groups * 32};
}

} // namespace

TEST_CASE("group id x is where the gfx puts it") {
    for (const std::string &gfx : all_gfx) {
        CAPTURE(gfx);
        auto out = at_entry(gfx, group_id(gfx), 5);
        for (u32 i = 0; i < out.size(); ++i)
            REQUIRE(out[i] == i / 32);
    }
}

TEST_CASE("on gfx1100 s2 is poison at entry: the id is in s15") {
    CHECK(at_entry("gfx1100", "s2", 1)[0] == poison);
    CHECK(at_entry("gfx1101", "s2", 1)[0] == 0);
}

TEST_CASE("work-item ids are packed in v0, lanes past the workgroup are off") {
    for (u32 wave : {32u, 64u}) {
        CAPTURE(wave);
        KernelText k;
        k.wave = wave;
        k.descriptor = ".amdhsa_system_vgpr_workitem_id 2";
        k.body = R"(
  v_and_b32 v1, 0x3ff, v0
  v_bfe_u32 v2, v0, 10, 10
  v_bfe_u32 v3, v0, 20, 10
  v_mad_u32_u24 v4, v2, 5, v1
  v_mad_u32_u24 v4, v3, 15, v4
  v_lshlrev_b32 v4, 2, v4
  global_store_b32 v4, v0, s[2:3])";
        Launch launch;
        launch.block = {5, 3, 4};
        auto out = run(k, launch);
        for (u32 z = 0; z < 4; ++z)
            for (u32 y = 0; y < 3; ++y)
                for (u32 x = 0; x < 5; ++x)
                    REQUIRE(out[x + 5 * (y + 3 * z)] == (x | y << 10 | z << 20));
        for (u32 i = 60; i < 64; ++i)
            CHECK(out[i] == 0);
        CHECK(launch.stats.waves == (wave == 32 ? 2 : 1));
    }
}

namespace {

// 5 x 3 work-items, or 5 x 3 x 4, each of which stores `value` at its place. Under the init check.
Launch launch_of_items(u32 dimensions) {
    Launch launch;
    launch.block = {5, 3, dimensions == 3 ? 4u : 1u};
    launch.config.checker = checker({.init = true});
    return launch;
}
KernelText items_kernel(const std::string &gfx, u32 wave, u32 dimensions, const std::string &ids,
                        const std::string &value) {
    KernelText k;
    k.gfx = gfx, k.wave = wave;
    k.descriptor = fmt::format(".amdhsa_system_vgpr_workitem_id {}", dimensions - 1);
    k.body = ids + "  v_mad_u32_u24 v11, v11, 5, v10\n" +
             (dimensions == 3 ? "  v_mad_u32_u24 v11, v12, 15, v11\n" : "") +
             "  v_lshlrev_b32 v11, 2, v11\n  global_store_b32 v11, " + value + ", s[2:3]";
    return k;
}
const std::string apart = "  v_mov_b32 v10, v0\n  v_mov_b32 v11, v1\n  v_mov_b32 v12, v2\n"
                          "  v_lshl_or_b32 v13, v11, 8, v10\n  v_lshl_or_b32 v14, v12, 16, v13\n",
                  packed = "  v_and_b32 v10, 0x3ff, v0\n  v_bfe_u32 v11, v0, 10, 10\n"
                           "  v_bfe_u32 v12, v0, 20, 10\n  v_lshl_or_b32 v13, v11, 8, v10\n"
                           "  v_lshl_or_b32 v14, v12, 16, v13\n";

} // namespace

TEST_CASE("work-item ids in two and three dimensions, under the init check") {
    for (const char *gfx : {"gfx1010", "gfx1012", "gfx1030", "gfx1036", "gfx1151", "gfx1201"})
        for (u32 wave : {32u, 64u})
            for (u32 dimensions : {2u, 3u}) {
                CAPTURE(gfx);
                CAPTURE(wave);
                CAPTURE(dimensions);
                const std::string &ids = target_of(gfx).packed_ids ? packed : apart;
                const auto out =
                    run(items_kernel(gfx, wave, dimensions, ids, dimensions == 3 ? "v14" : "v13"),
                        launch_of_items(dimensions));
                for (u32 n = 0; n < (dimensions == 3 ? 60u : 15u); ++n)
                    REQUIRE(out[n] == (n % 5 | n / 5 % 3 << 8 | n / 15 << 16));
            }
}

TEST_CASE("ids that the descriptor does not ask for are not there") {
    for (const char *gfx : {"gfx1010", "gfx1030"}) {
        CAPTURE(gfx);
        const KernelText two = items_kernel(gfx, 32, 2, apart, "v14"); // with v2
        CHECK(fault_of(two, launch_of_items(2)).find("init: v14 of lane 0") != std::string::npos);
    }
    for (const char *gfx : {"gfx1151", "gfx1201"}) { // none is in v1
        CAPTURE(gfx);
        const KernelText k = items_kernel(gfx, 32, 3, packed, "v1");
        CHECK(fault_of(k, launch_of_items(3)).find("init: v1 of lane 0") != std::string::npos);
    }
}

TEST_CASE("registers and LDS start as poison") {
    KernelText k;
    k.lds = 256;
    k.body = R"(
  v_lshlrev_b32 v1, 2, v0
  ds_load_b32 v3, v1
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v4, s40
  global_store_b32 v1, v2, s[2:3]
  global_store_b32 v1, v3, s[2:3] offset:128
  global_store_b32 v1, v4, s[2:3] offset:256)";
    auto out = run(k, Launch{.words = 96});
    for (u32 value : out)
        REQUIRE(value == poison);
}

TEST_CASE("MODE comes from the descriptor") {
    KernelText k;
    k.descriptor = ".amdhsa_float_round_mode_32 3\n  .amdhsa_float_denorm_mode_32 3";
    k.body = R"(
  s_getreg_b32 s6, hwreg(HW_REG_MODE, 0, 8)
  v_mov_b32 v1, 0
  v_mov_b32 v2, s6
  global_store_b32 v1, v2, s[2:3])";
    CHECK(run(k)[0] == (3u | 3u << 4 | 3u << 6));
}
