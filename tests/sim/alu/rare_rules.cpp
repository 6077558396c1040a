// SPDX-License-Identifier: MIT
// Rules that compilers rarely lean on: group ids y and z, NULL, parts of MODE, traps, addresses at
// the ends of their ranges, and atomics of integers.
#include <doctest/doctest.h>

#include <algorithm>

#include "sim/assemble.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

const std::vector<std::string> both{"gfx1151", "gfx1201"};

// Values of s8, s9 and s10 after `body`.
std::vector<u32> scalars(const std::string &gfx, const std::string &body) {
    KernelText k;
    k.gfx = gfx;
    k.body = body + "\n  v_mov_b32 v1, s8\n  v_mov_b32 v2, s9\n  v_mov_b32 v3, s10\n"
                    "  v_mov_b32 v4, 0\n  global_store_b96 v4, v[1:3], s[2:3]";
    auto out = run(k);
    out.resize(3);
    return out;
}

using Three = std::vector<u32>;

} // namespace

TEST_CASE("1.9, 1.10: group ids y and z follow x, or are the halves of ttmp7") {
    for (const std::string &gfx : all_gfx) {
        CAPTURE(gfx);
        const bool padded = target_of(gfx).init16;
        const std::string ids =
            is_gfx12(gfx) ? "  s_mov_b32 s20, ttmp9\n  s_and_b32 s21, ttmp7, 0xffff\n"
                            "  s_lshr_b32 s22, ttmp7, 16\n"
            : padded      ? "  s_mov_b32 s20, s15\n  s_mov_b32 s21, s16\n  s_mov_b32 s22, s17\n"
                          : "  s_mov_b32 s20, s2\n  s_mov_b32 s21, s3\n  s_mov_b32 s22, s4\n";
        KernelText k;
        k.gfx = gfx;
        k.descriptor = ".amdhsa_system_sgpr_workgroup_id_y 1\n"
                       ".amdhsa_system_sgpr_workgroup_id_z 1";
        // Group (x, y, z) of (2, 3, 4) stores x + 16 y + 256 z in its own word.
        k.body = "  s_mul_i32 s23, s22, 3\n  s_add_u32 s23, s23, s21\n  s_mul_i32 s23, s23, 2\n"
                 "  s_add_u32 s23, s23, s20\n  s_lshl_b32 s23, s23, 2\n  v_mov_b32 v1, s23\n"
                 "  s_lshl_b32 s21, s21, 4\n  s_lshl_b32 s22, s22, 8\n  s_or_b32 s20, s20, s21\n"
                 "  s_or_b32 s20, s20, s22\n  v_mov_b32 v2, s20\n"
                 "  global_store_b32 v1, v2, s[2:3]";
        k.entry = ids;
        auto program = load(k);
        Memory memory;
        auto out = static_cast<u32 *>(memory.allocate(24 * 4));
        u64 arguments[2] = {reinterpret_cast<u64>(out), 0};
        Dispatch d;
        d.program = program.get();
        d.kernel = program->find_kernel("test");
        d.grid = {2, 3, 4};
        d.block = {32, 1, 1};
        d.kernarg = std::as_bytes(std::span(arguments));
        sim::run(d, memory, *find_device(gfx), {});
        for (u32 n = 0; n < 24; ++n)
            CHECK(out[n] == (n % 2 | n / 2 % 3 << 4 | n / 6 << 8));
    }
}

TEST_CASE("1.18: NULL reads 0, takes any result, and SCC is still written") {
    for (const std::string &gfx : both) {
        CAPTURE(gfx);
        CHECK(scalars(gfx, "  s_sub_u32 null, 1, 2\n  s_cselect_b32 s8, 7, 8\n"
                           "  s_mov_b32 s9, null\n  s_add_u32 s10, null, 5") == Three{7, 0, 5});
        CHECK(scalars(gfx,
                      "  v_mov_b32 v1, -1\n  s_mov_b32 vcc_lo, 9\n"
                      "  v_add_co_u32 v2, null, v1, v1\n  v_readfirstlane_b32 s8, v2\n"
                      "  s_mov_b32 s9, vcc_lo\n  s_mov_b32 s10, null") == Three{0xfffffffe, 9, 0});
    }
}

TEST_CASE("4.8: s_setreg replaces its field only, s_getreg reads its own") {
    const std::string set = "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf5\n"
                            "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 2\n";
    for (const std::string &gfx : both)
        CHECK(scalars(gfx, set + "  s_getreg_b32 s8, hwreg(HW_REG_MODE, 0, 8)\n"
                                 "  s_getreg_b32 s9, hwreg(HW_REG_MODE, 4, 4)\n"
                                 "  s_getreg_b32 s10, hwreg(HW_REG_MODE, 2, 2)") ==
              Three{0xf9, 0xf, 2});
}

TEST_CASE("4.14: s_trap does nothing where no handler is, but 2 aborts") {
    for (const std::string &gfx : both) {
        CHECK(
            scalars(gfx, "  s_mov_b32 s8, 1\n  s_trap 3\n  s_mov_b32 s9, 2\n  s_mov_b32 s10, 3") ==
            Three{1, 2, 3});
        KernelText k;
        k.gfx = gfx;
        k.body = "  s_trap 2";
        CHECK(fault_of(k).find("aborted itself with s_trap 2") != std::string::npos);
    }
}

TEST_CASE("5.2: a 32-bit offset beside a scalar base is unsigned") {
    for (const std::string &gfx : both) {
        KernelText k;
        k.gfx = gfx;
        k.body = "  s_sub_u32 s8, s2, 0xfffffff0\n  s_subb_u32 s9, s3, 0\n  v_mov_b32 v1, -16\n"
                 "  v_mov_b32 v2, 77\n  s_mov_b32 exec_lo, 1\n"
                 "  global_store_b32 v1, v2, s[8:9] offset:8";
        CHECK(run(k)[2] == 77);
    }
}

TEST_CASE("5.3: scratch offsets in registers are unsigned on gfx11, signed on gfx12") {
    for (const std::string &gfx : both) {
        KernelText k;
        k.gfx = gfx;
        k.scratch = 64;
        k.descriptor = ".amdhsa_enable_private_segment 1";
        k.body = std::string("  v_mov_b32 v1, -8\n  v_mov_b32 v2, 77\n"
                             "  scratch_store_b32 v1, v2, off offset:12\n"
                             "  scratch_load_b32 v3, off, off offset:4\n") +
                 (is_gfx12(gfx) ? "  s_wait_loadcnt 0\n" : "  s_waitcnt vmcnt(0)\n") +
                 "  v_mov_b32 v4, 0\n  global_store_b32 v4, v3, s[2:3]";
        if (is_gfx12(gfx))
            CHECK(run(k)[0] == 77);
        else
            CHECK(fault_of(k).find("scratch out of range") != std::string::npos);
    }
}

namespace {

struct Update {
    std::string name; // without prefix and, of global ones, without `atomic_`
    u32 (*fresh)(u32 old, u32 data);
};

// Memory after lane l's update of word l, of hard values in every combination.
void check_updates(const std::string &gfx, const std::string &instruction, const Update &u) {
    constexpr u32 hard[] = {0, 1, 5, 0x7fffffff, 0x80000000, 0xffffffff};
    Launch launch;
    launch.block = {36, 1, 1};
    launch.words = 128;
    for (u32 n = 0; n < 36; ++n)
        launch.initial.push_back(hard[n / 6]);
    launch.initial.resize(64);
    for (u32 n = 0; n < 36; ++n)
        launch.initial.push_back(hard[n % 6]);
    KernelText k;
    k.gfx = gfx;
    k.lds = 256;
    k.body =
        "  v_lshlrev_b32 v1, 2, v0\n  global_load_b32 v4, v1, s[2:3]\n"
        "  global_load_b32 v2, v1, s[2:3] offset:256\n" +
        std::string(is_gfx12(gfx) ? "  s_wait_loadcnt 0\n" : "  s_waitcnt vmcnt(0)\n") +
        "  ds_store_b32 v1, v4\n  " + instruction + "\n  ds_load_b32 v4, v1\n" +
        (is_gfx12(gfx) ? "  s_wait_dscnt 0\n" : "  s_waitcnt lgkmcnt(0)\n") +
        (instruction.find("ds_") != std::string::npos ? "  global_store_b32 v1, v4, s[2:3]" : "");
    std::vector<u32> out = run(k, launch);
    CAPTURE(gfx);
    CAPTURE(instruction);
    for (u32 n = 0; n < 36; ++n)
        CHECK(out[n] == u.fresh(hard[n / 6], hard[n % 6]));
}

} // namespace

TEST_CASE("5.18: atomics of integers") {
    const Update updates[] = {
        {"sub_u32", [](u32 old, u32 data) { return old - data; }},
        {"inc_u32", [](u32 old, u32 data) { return old >= data ? 0 : old + 1; }},
        {"dec_u32", [](u32 old, u32 data) { return old == 0 || old > data ? data : old - 1; }},
        {"min_i32",
         [](u32 old, u32 data) {
             return static_cast<u32>(std::min(static_cast<i32>(old), static_cast<i32>(data)));
         }},
        {"max_i32",
         [](u32 old, u32 data) {
             return static_cast<u32>(std::max(static_cast<i32>(old), static_cast<i32>(data)));
         }},
        {"min_u32", [](u32 old, u32 data) { return std::min(old, data); }},
        {"max_u32", [](u32 old, u32 data) { return std::max(old, data); }},
    };
    for (const std::string &gfx : both)
        for (const Update &u : updates) {
            check_updates(gfx, "ds_" + u.name + " v1, v2", u);
            check_updates(gfx, "global_atomic_" + u.name + " v1, v2, s[2:3]", u);
        }
    const Update clamp{"", [](u32 old, u32 data) { return old > data ? old - data : 0; }},
        cond{"", [](u32 old, u32 data) { return old >= data ? old - data : old; }},
        reverse{"", [](u32 old, u32 data) { return data - old; }},
        masked{"", [](u32 old, u32 data) { return (old & ~data) | 5; }};
    check_updates("gfx1151", "global_atomic_csub_u32 v3, v1, v2, s[2:3] glc", clamp);
    check_updates("gfx1201", "global_atomic_sub_clamp_u32 v1, v2, s[2:3]", clamp);
    check_updates("gfx1201", "global_atomic_cond_sub_u32 v1, v2, s[2:3]", cond);
    check_updates("gfx1201", "ds_sub_clamp_u32 v1, v2", clamp);
    check_updates("gfx1201", "ds_cond_sub_u32 v1, v2", cond);
    for (const std::string &gfx : both) {
        check_updates(gfx, "ds_rsub_u32 v1, v2", reverse);
        check_updates(gfx, "v_mov_b32 v5, 5\n  ds_mskor_b32 v1, v2, v5\n", masked);
    }
}

TEST_CASE("4.6: in wave32 branches on VCC look at its low half") {
    for (const std::string &gfx : both)
        CHECK(scalars(gfx, "  s_mov_b32 s8, 0\n  s_mov_b32 s9, 0\n  s_mov_b32 s10, 3\n"
                           "  s_mov_b32 vcc_lo, 0\n  s_mov_b32 vcc_hi, 1\n"
                           "  s_cbranch_vccz .Lzero\n  s_mov_b32 s8, 1\n.Lzero:\n"
                           "  s_mov_b32 vcc_lo, 4\n  s_mov_b32 vcc_hi, 0\n"
                           "  s_cbranch_vccnz .Lset\n  s_mov_b32 s9, 1\n.Lset:") == Three{0, 0, 3});
}

TEST_CASE("4.10: hardware registers that a kernel may read; others are named in a fault") {
    CHECK(scalars("gfx1151", "  s_cmp_eq_u32 0, 0\n  s_getreg_b32 s8, hwreg(HW_REG_STATUS, 0, 1)\n"
                             "  s_cmp_eq_u32 0, 1\n  s_getreg_b32 s9, hwreg(HW_REG_STATUS, 0, 1)\n"
                             "  s_getreg_b32 s10, hwreg(HW_REG_STATUS, 9, 1)") == Three{1, 0, 0});
    CHECK(scalars("gfx1201", "  s_cmp_eq_u32 0, 0\n  s_getreg_b32 s8, hwreg(4, 9, 1)\n"
                             "  s_cmp_eq_u32 0, 1\n  s_getreg_b32 s9, hwreg(4, 9, 1)\n"
                             "  s_mov_b32 s10, 0") == Three{1, 0, 0});
    for (const std::string &gfx : both) {
        auto clock = scalars(gfx, "  s_getreg_b32 s8, hwreg(29, 0, 20)\n  s_nop 0\n"
                                  "  s_getreg_b32 s9, hwreg(29, 0, 20)\n  s_mov_b32 s10, 0");
        CHECK(clock[1] > clock[0]);
        KernelText k;
        k.gfx = gfx;
        k.body = "  s_getreg_b32 s8, hwreg(60, 0, 8)";
        CHECK(fault_of(k).find("hardware register 60 can't be read here") != std::string::npos);
    }
}

TEST_CASE("1.26: the dispatch packet behind its pointer") {
    for (const std::string &gfx : both) {
        KernelText k;
        k.gfx = gfx;
        k.lds = 512;
        k.descriptor = ".amdhsa_user_sgpr_dispatch_ptr 1";
        k.body = "  s_load_b64 s[8:9], s[20:21], 0x4\n  s_load_b32 s10, s[20:21], 0x1c\n" +
                 std::string(is_gfx12(gfx) ? "  s_wait_kmcnt 0\n" : "  s_waitcnt lgkmcnt(0)\n") +
                 "  v_mov_b32 v1, s8\n  v_mov_b32 v2, s9\n  v_mov_b32 v3, s10\n"
                 "  v_mov_b32 v4, 0\n  global_store_b96 v4, v[1:3], s[2:3]";
        // 1.8: the packet's pointer comes before kernargs'
        k.entry = "  s_mov_b64 s[20:21], s[0:1]\n  s_mov_b64 s[0:1], s[2:3]\n";
        auto program = load(k);
        Memory memory;
        auto out = static_cast<u32 *>(memory.allocate(12));
        u64 arguments[2] = {reinterpret_cast<u64>(out), 0};
        Dispatch d;
        d.program = program.get();
        d.kernel = program->find_kernel("test");
        d.grid = {3, 1, 1};
        d.block = {8, 4, 2};
        d.dynamic_lds = 256;
        d.kernarg = std::as_bytes(std::span(arguments));
        sim::run(d, memory, *find_device(gfx), {});
        CHECK(out[0] == (8 | 4 << 16)); // workgroup size x, y
        CHECK(out[1] == 2);             // and z
        CHECK(out[2] == 512 + 256);     // group segment
    }
}
