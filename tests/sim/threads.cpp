// SPDX-License-Identifier: MIT
// Memory after a grid doesn't depend on the number of host threads: bit by bit, statistics
// included.
#include <doctest/doctest.h>
#include <set>

#include "sim/assemble.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

constexpr unsigned thread_counts[] = {1, 2, 3, 8};

// The memory after the run, the same on any number of threads.
std::vector<u32> same(KernelText k, u32 groups, u32 words, u32 block = 32) {
    std::vector<u32> want;
    RunStats stats;
    for (unsigned threads : thread_counts) {
        CAPTURE(threads);
        CAPTURE(k.gfx);
        Launch launch{.grid = {groups, 1, 1}, .block = {block, 1, 1}, .words = words};
        launch.config.threads = threads;
        std::vector<u32> out = run(k, launch);
        if (threads == 1) {
            want = out;
            stats = launch.stats;
        }
        CHECK(out == want);
        CHECK(launch.stats.insts.total() == stats.insts.total());
        CHECK(launch.stats.waves == stats.waves);
        CHECK(launch.stats.bytes.global_load == stats.bytes.global_load);
        CHECK(launch.stats.bytes.global_store == stats.bytes.global_store);
        CHECK(launch.stats.bytes.lds_write == stats.bytes.lds_write);
    }
    return want;
}

// s6 is the workgroup's number.
KernelText kernel(const std::string &gfx, const std::string &body) {
    KernelText k;
    k.gfx = gfx;
    k.body = (is_gfx12(gfx) ? "  s_mov_b32 s6, ttmp9\n" : "  s_mov_b32 s6, s15\n") + body;
    return k;
}

std::string wait(const std::string &gfx, const char *gfx11, const char *gfx12) {
    return std::string("  ") + (is_gfx12(gfx) ? gfx12 : gfx11) + "\n";
}

} // namespace

TEST_CASE("threads: floats in every lane") {
    same(kernel("gfx1100", R"(
  v_lshl_add_u32 v1, s6, 5, v0
  v_lshlrev_b32 v1, 2, v1
  v_mul_lo_u32 v2, 0x9e3779b1, v1
  v_cvt_f32_u32 v3, v2
  v_rsq_f32 v4, v3
  v_fma_f32 v4, v4, v3, v3
  global_store_b32 v1, v4, s[2:3])"),
         64, 2048);
}

TEST_CASE("threads: matrices") {
    for (const std::string gfx : {"gfx1100", "gfx1201"}) {
        std::string body = "  v_lshl_add_u32 v1, s6, 5, v0\n";
        for (unsigned n = 8; n < 24; ++n) // halves between 1 and 2, other ones in every workgroup
            body += "  v_mul_lo_u32 v" + std::to_string(n) + ", " +
                    std::to_string(0x9e3779b1u + n) + ", v1\n  v_and_or_b32 v" + std::to_string(n) +
                    ", v" + std::to_string(n) + ", 0x03ff03ff, v2\n";
        body = "  v_mov_b32 v2, 0x3c003c00\n  v_mov_b32 v3, 0x03ff03ff\n" + body;
        for (size_t at; (at = body.find("0x03ff03ff, v2")) != body.npos;)
            body.replace(at, 10, "v3");
        const std::string inputs = is_gfx12(gfx) ? "v[8:11], v[16:19]" : "v[8:15], v[16:23]";
        body += "  v_wmma_f32_16x16x16_f16 v[24:31], " + inputs +
                ", 0\n  v_nop\n  v_wmma_f32_16x16x16_f16 v[24:31], " + inputs +
                ", v[24:31]\n  v_lshlrev_b32 v1, 5, v1\n"
                "  global_store_b128 v1, v[24:27], s[2:3]\n"
                "  global_store_b128 v1, v[28:31], s[2:3] offset:16\n";
        const std::vector<u32> out = same(kernel(gfx, body), 40, 40 * 256);
        CHECK(std::set<u32>(out.begin(), out.end()).size() > 1000); // not zeros
    }
}

TEST_CASE("threads: LDS and barriers, several workgroups at once") {
    for (const std::string gfx : {"gfx1100", "gfx1201"}) {
        const std::string barrier =
            wait(gfx, "s_waitcnt lgkmcnt(0)", "s_wait_dscnt 0") +
            wait(gfx, "s_barrier", "s_barrier_signal -1\n  s_barrier_wait -1");
        // Each wave reads the results of the next one of its workgroup, eight times.
        std::string body = R"(
  v_lshlrev_b32 v1, 2, v0
  v_add_nc_u32 v2, 128, v1
  v_and_b32 v2, 0x3ff, v2
  v_add_nc_u32 v3, s6, v0
  s_mov_b32 s8, 8
.Lagain:
  v_mul_lo_u32 v3, 0x9e3779b1, v3
  ds_store_b32 v1, v3
)" + barrier + "  ds_load_b32 v4, v2\n" +
                           barrier + R"(
  v_add_nc_u32 v3, v4, v3
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lagain
  s_lshl_b32 s9, s6, 10
  v_add_nc_u32 v1, s9, v1
  global_store_b32 v1, v3, s[2:3])";
        KernelText k = kernel(gfx, body);
        k.lds = 1024;
        same(k, 48, 48 * 256, 256);
    }
}

TEST_CASE("threads: atomics that any order gives the same sum of") {
    const std::vector<u32> out = same(kernel("gfx1100", R"(
  v_mov_b32 v1, 0
  v_lshl_add_u32 v2, s6, 5, v0
  v_mul_lo_u32 v3, 0x9e3779b1, v2
  global_atomic_add_u32 v1, v2, s[2:3]
  global_atomic_xor_b32 v1, v3, s[2:3] offset:4
  global_atomic_max_u32 v1, v3, s[2:3] offset:8
  global_atomic_min_i32 v1, v3, s[2:3] offset:12)"),
                                      100, 64);
    CHECK(out[0] == 3200u * 3199 / 2);
}

TEST_CASE("threads: atomics whose order shows come in the order of workgroups") {
    for (const std::string gfx : {"gfx1100", "gfx1201"}) {
        const std::string returns = is_gfx12(gfx) ? " th:TH_ATOMIC_RETURN\n" : " glc\n";
        std::string body = R"(
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_mul_i32 s8, s6, 0x9e3779b1
  v_mov_b32 v4, s8
  s_mov_b32 s9, exec_lo
  s_mov_b32 exec_lo, 1
  s_and_b32 s10, s6, 1 // every other workgroup takes its time
  s_cmp_lg_u32 s10, 0
  s_cbranch_scc1 .Lnot_slow
  s_movk_i32 s10, 0x7000
.Lslow:
  s_sub_u32 s10, s10, 1
  s_cmp_lg_u32 s10, 0
  s_cbranch_scc1 .Lslow
.Lnot_slow:
)";
        body += "  global_atomic_add_u32 v5, v1, v2, s[2:3]" + returns +
                "  global_atomic_swap_b32 v1, v4, s[2:3] offset:4\n"
                "  v_cvt_f32_u32 v6, v4\n"
                "  global_atomic_add_f32 v1, v6, s[2:3] offset:8\n"
                "  s_mov_b32 s12, s2\n  s_mov_b32 s13, s3\n  s_mov_b32 s14, 16\n"
                "  s_mov_b32 s15, 0x30016fac\n  v_mov_b32 v7, v4\n"
                "  buffer_atomic_swap_b32 v7, off, s[12:15], null offset:12" +
                returns + wait(gfx, "s_waitcnt vmcnt(0)", "s_wait_loadcnt 0") +
                "  v_mov_b32 v8, s6\n  v_lshlrev_b32 v8, 3, v8\n"
                "  v_mov_b32 v9, v5\n  v_mov_b32 v10, v7\n"
                "  global_store_b64 v8, v[9:10], s[2:3] offset:16\n";
        const std::vector<u32> out = same(kernel(gfx, body), 100, 4 + 200);
        CHECK(out[0] == 100);
        CHECK(out[1] == 99 * 0x9e3779b1u);
        for (u32 group = 0; group < 100; ++group) {
            CHECK(out[4 + 2 * group] == group);
            CHECK(out[5 + 2 * group] == (group ? (group - 1) * 0x9e3779b1u : 0));
        }
    }
}

TEST_CASE("threads: a fault among workgroups that wait for their turn") {
    // Workgroup 20 stores past the buffer; those above it wait, and must be let go.
    KernelText k = kernel("gfx1100", R"(
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_cmp_eq_u32 s6, 20
  s_cbranch_scc0 .Lgood
  v_mov_b32 v1, 0x10000
  s_movk_i32 s10, 0x7000 // the others are there by then
.Lslow:
  s_sub_u32 s10, s10, 1
  s_cmp_lg_u32 s10, 0
  s_cbranch_scc1 .Lslow
.Lgood:
  global_atomic_add_u32 v3, v1, v2, s[2:3] glc)");
    for (unsigned threads : thread_counts) {
        Launch launch{.grid = {400, 1, 1}};
        launch.config.threads = threads;
        const std::string text = fault_of(k, launch);
        CHECK_MESSAGE(text.find("workgroup (20, 0, 0)") != text.npos, text);
    }
}
