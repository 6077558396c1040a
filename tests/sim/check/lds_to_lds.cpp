// SPDX-License-Identifier: MIT
// gfx10.1's updates of LDS by values of LDS (S-078), and what the checkers say of them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/assemble.h"
#include "sim/check/checks.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

using Words = std::vector<u32>;

KernelText kernel(const std::string &body, u32 wave = 32) {
    KernelText k;
    k.gfx = "gfx1010";
    k.lds = 2048;
    k.wave = wave;
    k.body = body;
    return k;
}

// LDS's first 64 dwords after `body`, before which lane l has stored l + 100 to dword l, and
// v1 = 4 * l.
std::string around(const std::string &body) {
    return "  v_lshlrev_b32 v1, 2, v0\n  v_add_nc_u32 v2, 100, v0\n  ds_store_b32 v1, v2\n"
           "  s_waitcnt lgkmcnt(0)\n" +
           body +
           "  s_waitcnt lgkmcnt(0)\n  ds_load_b32 v3, v1\n  s_waitcnt lgkmcnt(0)\n"
           "  global_store_b32 v1, v3, s[2:3]\n";
}

Words after(const std::string &body) {
    return run(kernel(around(body), 64), Launch{.block = {64, 1, 1}});
}

constexpr const char *two_lanes = "  s_mov_b64 exec, 3\n", *all_lanes = "  s_mov_b64 exec, -1\n";

// Words 0 and 1 at LDS address 0, and `data` 8 bytes further; the first two words after `op`.
u64 updated(const std::string &op, bool wide, u64 old, u64 data) {
    const auto store = [](u64 value, u32 at) {
        return fmt::format("  v_mov_b32 v4, {:#x}\n  v_mov_b32 v5, {:#x}\n"
                           "  ds_store_b64 v1, v[4:5] offset:{}\n",
                           value & 0xffffffff, value >> 32, at);
    };
    const std::string body = "  v_mov_b32 v1, 0\n" + store(old, 0) + store(data, 8) +
                             fmt::format("  {} v1 offset:2\n", op) +
                             "  ds_load_b64 v[6:7], v1\n  s_waitcnt lgkmcnt(0)\n"
                             "  global_store_b64 v1, v[6:7], s[2:3]\n";
    const Words out = run(kernel(body), Launch{.block = {1, 1, 1}});
    return wide ? out[0] | u64{out[1]} << 32 : out[0];
}

std::string checked(const std::string &body, CheckKinds kinds, Launch launch = {}) {
    launch.config.checker = checker(kinds);
    return fault_of(kernel(body), launch);
}
bool has(const std::string &text, const std::string &part) { return text.find(part) != text.npos; }

} // namespace

TEST_CASE("ds_*_src2: the operations") {
    struct Case {
        const char *op;
        u64 old, data, want;
    };
    constexpr u64 minus_one = ~u64{0};
    const Case integer[] = {{"add_src2_u", 7, 9, 16},
                            {"sub_src2_u", 7, 9, minus_one - 1},
                            {"rsub_src2_u", 7, 9, 2},
                            {"inc_src2_u", 7, 9, 8},
                            {"inc_src2_u", 9, 9, 0},
                            {"dec_src2_u", 0, 9, 9},
                            {"dec_src2_u", 9, 9, 8},
                            {"min_src2_i", 7, minus_one, minus_one},
                            {"max_src2_i", 7, minus_one, 7},
                            {"min_src2_u", 7, minus_one, 7},
                            {"max_src2_u", 7, minus_one, minus_one},
                            {"and_src2_b", 12, 10, 8},
                            {"or_src2_b", 12, 10, 14},
                            {"xor_src2_b", 12, 10, 6},
                            {"write_src2_b", 12, minus_one / 3, minus_one / 3}};
    for (const Case &c : integer)
        for (bool wide : {false, true}) {
            CAPTURE(c.op);
            CAPTURE(wide);
            const u64 want = wide ? c.want : c.want & 0xffffffff;
            CHECK(updated(fmt::format("ds_{}{}", c.op, wide ? 64 : 32), wide, c.old, c.data) ==
                  want);
        }
    CHECK(updated("ds_add_src2_f32", false, 0x3f800000, 0x40000000) == 0x40400000);
    CHECK(updated("ds_min_src2_f32", false, 0x3f800000, 0xc0000000) == 0xc0000000);
    CHECK(updated("ds_max_src2_f32", false, 0x3f800000, 0xc0000000) == 0x3f800000);
    CHECK(updated("ds_min_src2_f64", true, 0x3ff0000000000000, 0xc000000000000000) ==
          0xc000000000000000);
    CHECK(updated("ds_max_src2_f64", true, 0x3ff0000000000000, 0xc000000000000000) ==
          0x3ff0000000000000);
}

TEST_CASE(
    "ds_*_src2: the second place is so many dwords from the first, or where the address says") {
    Words out = after(std::string(two_lanes) + "  ds_add_src2_u32 v1 offset:40\n" + all_lanes);
    CHECK(out[0] == 100 + 140);
    CHECK(out[1] == 101 + 141);
    CHECK(out[2] == 102);
    out = after(std::string(two_lanes) +
                "  v_add_nc_u32 v4, 80, v1\n"              // dwords 20 and 21
                "  ds_write_src2_b32 v4 offset:0x7ff6\n" + // 10 back
                all_lanes);
    CHECK(out[20] == 110);
    CHECK(out[21] == 111);
    CHECK(out[10] == 110);
    // By bits 31:17 of the address: 7 dwords on, and 3 back.
    out = after(std::string(two_lanes) +
                "  v_add_nc_u32 v4, 80, v1\n  v_or_b32 v5, 0xe0000, v4\n"
                "  ds_add_src2_u32 v5 offset:0x8000\n"
                "  v_or_b32 v6, 0xfffa0000, v1\n  v_add_nc_u32 v6, 160, v6\n"
                "  ds_write_src2_b32 v6 offset:0x8005\n" +
                all_lanes);
    CHECK(out[20] == 120 + 127);
    CHECK(out[21] == 121 + 128);
    CHECK(out[40] == 137);
    CHECK(out[41] == 138);
}

TEST_CASE("ds_*_src2: lanes that are off do nothing; both places must be in LDS") {
    const Words out =
        after("  s_mov_b32 exec_lo, 0\n  s_mov_b32 exec_hi, 10\n  ds_rsub_src2_u32 v1 offset:1\n" +
              std::string(all_lanes));
    for (u32 l = 0; l < 64; ++l)
        CHECK(out[l] == (l == 33 || l == 35 ? 1 : 100 + l));
    const std::string far = "  v_mov_b32 v1, 0x7f8\n  ds_add_src2_u32 v1 offset:";
    CHECK(fault_of(kernel(far + "1\n")) == "");
    CHECK(has(fault_of(kernel(far + "2\n")), "LDS out of range"));
    CHECK(has(fault_of(kernel("  v_mov_b32 v1, 6\n  ds_add_src2_u32 v1 offset:2\n")),
              "misaligned atomic"));
}

TEST_CASE("init: what LDS has not is passed on, and found when it is stored") {
    const std::string first = "  v_mov_b32 v1, 0\n  v_mov_b32 v2, 5\n  ds_store_b32 v1, v2\n",
                      last = "  ds_load_b32 v3, v1\n  s_waitcnt lgkmcnt(0)\n"
                             "  global_store_b32 v1, v3, s[2:3]\n";
    const Launch one{.block = {1, 1, 1}};
    const auto found = [&](const std::string &body) {
        return has(checked(first + body + last, {.init = true}, one), "a value stored to memory");
    };
    CHECK(!found(""));
    CHECK(found("  ds_add_src2_u32 v1 offset:1\n"));
    CHECK(found("  ds_write_src2_b32 v1 offset:1\n"));
    CHECK(!found("  ds_store_b32 v1, v2 offset:4\n  ds_add_src2_u32 v1 offset:1\n"));
    CHECK(!found("  ds_store_b32 v1, v2 offset:4\n  ds_write_src2_b32 v1 offset:1\n"));
    CHECK(has(checked("  ds_add_src2_u32 v9 offset:1\n", {.init = true}, one), "an address"));
}

TEST_CASE("race: the first place is updated or written, the second read") {
    // Wave 0 stores dword 0 of LDS, wave 1 does `op` at v1.
    const auto races = [](const std::string &op) {
        return checked("  v_readfirstlane_b32 s20, v0\n  v_mov_b32 v2, 0\n  v_mov_b32 v3, 7\n"
                       "  v_mov_b32 v4, 16\n  s_mov_b32 exec_lo, 1\n  s_cmp_lg_u32 s20, 0\n"
                       "  s_cbranch_scc1 .Lother\n  ds_store_b32 v2, v3\n  s_branch .Lout\n"
                       ".Lother:\n  " +
                           op + "\n.Lout:\n",
                       {.race = true}, Launch{.block = {64, 1, 1}});
    };
    CHECK(has(races("ds_add_src2_u32 v2 offset:1"), "updates atomically LDS byte 0"));
    CHECK(has(races("ds_write_src2_b32 v2 offset:1"), "writes LDS byte 0"));
    CHECK(has(races("ds_add_src2_u32 v4 offset:0x7ffc"), "reads LDS byte 0")); // 4 dwords back
    CHECK(races("ds_add_src2_u32 v4 offset:1") == "");
}

TEST_CASE("wait: they count as LDS instructions") {
    const std::string body =
        "  v_mov_b32 v1, 0\n  ds_load_b32 v2, v1\n  ds_add_src2_u32 v1 offset:1\n";
    CHECK(checked(body + "  s_waitcnt lgkmcnt(1)\n  v_mov_b32 v3, v2\n", {.wait = true}) == "");
    CHECK(has(checked(body + "  s_waitcnt lgkmcnt(2)\n  v_mov_b32 v3, v2\n", {.wait = true}),
              "v2 is read while it is in flight"));
}
