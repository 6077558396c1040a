// SPDX-License-Identifier: MIT
// Every launch says how sure its results are.
#include <doctest/doctest.h>

#include "sim/assemble.h"
#include "sim/isa/tables/fidelity.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

RunStats stats_of(const std::string &body, const std::string &gfx = "gfx1151", bool fast = false) {
    KernelText k;
    k.gfx = gfx;
    k.body = body;
    Launch launch{.grid = {3, 1, 1}, .block = {64, 1, 1}};
    launch.config.threads = 2;
    launch.config.fast_math = fast;
    run(k, launch);
    return launch.stats;
}

} // namespace

TEST_CASE("exact instructions leave no notes") {
    RunStats s = stats_of("  v_add_f32 v1, v2, v3\n  v_dual_mul_f32 v4, v5, v6 :: v_dual_mov_b32 "
                          "v7, v8\n  s_mov_b32 s6, 0");
    CHECK(s.fidelity.exact == s.insts.total());
    CHECK(s.fidelity.approximate + s.fidelity.open == 0);
    CHECK(s.fidelity.notes.empty());
}

TEST_CASE("approximate and open ones are counted by wave, and their notes named once") {
    REQUIRE(fidelity_of("v_rcp_f64", Generation::gfx11).fidelity == Fidelity::approximate);
    REQUIRE(fidelity_of("v_sin_f32", Generation::gfx11).fidelity == Fidelity::open);
    std::string body;
    for (int n = 0; n < 5; ++n)
        body += "  v_rcp_f64 v[2:3], v[4:5]\n";
    body += "  v_rsq_f64 v[2:3], v[4:5]\n  v_sin_f32 v6, v7\n  v_cos_f32 v6, v7\n"
            "  v_rcp_f32 v6, v7";
    const u64 waves = 3 * 2;
    for (const char *gfx : {"gfx1100", "gfx1201"}) {
        RunStats s = stats_of(body, gfx);
        CHECK(s.fidelity.approximate == 6 * waves);
        CHECK(s.fidelity.open == 2 * waves);
        CHECK(s.fidelity.exact == s.insts.total() - 8 * waves);
        CHECK(s.insts.trans == 9 * waves); // classes are counted as ever
        CHECK(s.fidelity.notes == std::vector<std::string>{"S-011", "S-013"});
    }
}

TEST_CASE("what is skipped is not counted") {
    RunStats s = stats_of("  s_branch .Lover\n  v_rcp_f64 v[2:3], v[4:5]\n.Lover:");
    CHECK(s.fidelity.approximate == 0);
    CHECK(s.fidelity.notes.empty());
}

TEST_CASE("fast math: what then adds in f32 is approximate, the rest stays as it is") {
    const std::string matrix = "  v_wmma_f32_16x16x16_f16 v[8:15], v[16:23], v[24:31], v[8:15]\n"
                               "  v_wmma_f32_16x16x16_bf16 v[8:15], v[16:23], v[24:31], v[8:15]\n",
                      dots = "  v_dot2_f32_f16 v1, v2, v3, v1\n  v_dot2_f32_bf16 v1, v2, v3, v1\n"
                             "  v_dot2acc_f32_f16 v1, v2, v3\n"
                             "  v_dual_dot2acc_f32_bf16 v1, v2, v3 :: v_dual_mov_b32 v4, v5\n",
                      others = "  v_wmma_f16_16x16x16_f16 v[8:15], v[16:23], v[24:31], v[8:15]\n"
                               "  v_wmma_i32_16x16x16_iu8 v[8:15], v[16:19], v[24:27], v[8:15]\n"
                               "  v_dot2_f16_f16 v1, v2, v3, v1\n  v_fma_f32 v1, v2, v3, v1\n"
                               "  v_dot4_u32_u8 v1, v2, v3, v1\n";
    const std::string body = matrix + dots + others;
    const u64 waves = 3 * 2;
    RunStats exact = stats_of(body), fast = stats_of(body, "gfx1151", true);
    CHECK(exact.fidelity.exact == exact.insts.total());
    CHECK(exact.fidelity.notes.empty());
    CHECK(fast.fidelity.approximate == 6 * waves);
    CHECK(fast.fidelity.exact == exact.insts.total() - 6 * waves);
    CHECK(fast.fidelity.notes == std::vector<std::string>{"S-004"});
    CHECK(fast.insts.wmma == exact.insts.wmma);
}

TEST_CASE("fast math doesn't make an open question less open") {
    const std::string body = "  v_wmma_f32_16x16x16_fp8_fp8 v[8:15], v[16:17], v[18:19], v[8:15]\n"
                             "  v_swmmac_f32_16x16x32_f16 v[8:15], v[16:19], v[20:27], v28\n";
    CHECK(stats_of(body, "gfx1201", true).fidelity.open == 2 * 3 * 2);
    CHECK(stats_of(body, "gfx1201", true).fidelity.approximate == 0);
}

namespace {

// Counts of `body` alone, as a difference between launches.
u64 open_in(const std::string &body, const std::string &gfx, const std::string &note) {
    RunStats s = stats_of(body, gfx);
    CHECK(s.fidelity.notes == (s.fidelity.open ? std::vector{note} : std::vector<std::string>{}));
    return s.fidelity.open / (3 * 2);
}

} // namespace

TEST_CASE("operands and modifiers can make an exact instruction open") {
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        CHECK(open_in("  v_pk_mul_lo_u16 v1, v2, v3", gfx, "") == 0);
        CHECK(open_in("  v_pk_mul_lo_u16 v1, v2, v3 clamp", gfx, "S-048") == 1);
        CHECK(open_in("  v_dot2_f32_f16 v1, v2, 1.0, v3", gfx, "S-049") == 1);
        CHECK(open_in("  v_dot2_f32_f16 v1, v2, v3, 1.0", gfx, "") == 0);
        CHECK(open_in("  v_dot2_f32_f16 v1, v2, 0x3c003c00, v3", gfx, "") == 0);
        CHECK(open_in("  v_dot2_f32_f16 v1, v2, 0, v3", gfx, "") == 0);
        CHECK(open_in("  v_dual_dot2acc_f32_f16 v1, 2.0, v2 :: v_dual_mov_b32 v4, 1.0", gfx,
                      "S-049") == 1);
        CHECK(open_in("  v_dual_mov_b32 v4, 1.0 :: v_dual_dot2acc_f32_f16 v1, v3, v2", gfx, "") ==
              0);
        CHECK(open_in("  v_dot2_f32_f16 v1, v2, v3, v4 clamp", gfx, "S-089") == 1);
        CHECK(open_in("  v_dot2_f32_bf16 v1, v2, v3, v4 clamp", gfx, "S-089") == 1);
        CHECK(open_in("  v_dot4_u32_u8 v1, v2, v3, v4 clamp", gfx, "") == 0);
        CHECK(open_in("  v_fma_f32 v1, v2, v3, v4 clamp", gfx, "") == 0);
        CHECK(open_in("  v_pk_add_u16 v1, v2, 0.5", gfx, "S-049") == 1);
        CHECK(open_in("  v_pk_add_u16 v1, v2, -1", gfx, "") == 0);
        CHECK(open_in("  v_pk_add_f16 v1, v2, 1.0", gfx, "") == 0);
        CHECK(open_in("  v_mov_b32 v1, ttmp3", gfx, "S-053") == 1);
        CHECK(open_in("  v_mov_b32 v1, ttmp8", gfx, "") == 0);
    }
    CHECK(open_in("  .long 0xd7030001, 0x0001e502", "gfx1151", "S-049") == 1); // v_add_nc_u16, 1.0
    CHECK(open_in("  v_add_nc_u16 v1, v2, lit(0x3c00)", "gfx1151", "") == 0);
}

TEST_CASE("what public sources leave open is open, with its note") {
    struct {
        const char *mnemonic, *note;
    } rows[] = {{"v_exp_f16", "S-012"},
                {"v_s_exp_f16", "S-012"},
                {"v_sin_f16", "S-013"},
                {"v_cos_f32", "S-013"},
                {"global_atomic_add_f32", "S-050"},
                {"flat_atomic_min_num_f32", "S-050"},
                {"buffer_atomic_max_f32", "S-050"},
                {"s_barrier_signal_isfirst", "S-052"}};
    for (auto &row : rows) {
        CAPTURE(row.mnemonic);
        CHECK(fidelity_of(row.mnemonic, Generation::gfx11).fidelity == Fidelity::open);
        CHECK(fidelity_of(row.mnemonic, Generation::gfx11).note == row.note);
    }
    for (const char *exact : {"v_rcp_f16", "v_log_f16", "ds_add_f32", "s_barrier_signal"})
        CHECK(fidelity_of(exact, Generation::gfx11).fidelity == Fidelity::exact);
}

TEST_CASE("what is known of gfx11 alone is open on gfx10") {
    const std::string norms =
        "  v_cvt_pk_norm_i16_f32 v1, v2, v3\n  v_cvt_pk_norm_u16_f16 v1, v2, v3\n";
    CHECK(open_in(norms, "gfx1010", "S-070") == 2);
    CHECK(open_in(norms, "gfx1030", "S-070") == 2);
    CHECK(open_in(norms, "gfx1151", "") == 0);
    CHECK(open_in("  v_rcp_f32 v1, v2\n  v_dot2_f32_f16 v1, v2, v3, v4", "gfx1030", "S-070") == 2);
    CHECK(open_in("  v_cvt_pk_i16_i32 v1, v2, v3\n  v_add_f32 v1, v2, v3", "gfx1030", "") == 0);
    CHECK(open_in("  v_cvt_pk_norm_i16_f32 v1, v2, v3", "gfx1201", "") == 0);
}
