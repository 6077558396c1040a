// SPDX-License-Identifier: MIT
// gfx10.1's stores and atomics of SGPRs (S-077), and what the checkers say of them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "sim/assemble.h"
#include "sim/check/checks.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

using Words = std::vector<u32>;

const std::string done = "  s_dcache_wb\n  s_waitcnt lgkmcnt(0)\n";

KernelText kernel(const std::string &body) {
    KernelText k;
    k.gfx = "gfx1010";
    k.body = body;
    return k;
}

// Memory after the body, which starts with s[8:11] = 1000, 2000, 3000, 4000.
Words after(const std::string &body, Words initial = {}) {
    const std::string values = "  s_movk_i32 s8, 1000\n  s_movk_i32 s9, 2000\n"
                               "  s_movk_i32 s10, 3000\n  s_movk_i32 s11, 4000\n";
    return run(kernel(values + body + done), Launch{.initial = std::move(initial)});
}

std::string checked(const std::string &body, CheckKinds kinds, Launch launch = {}) {
    launch.words = std::max(launch.words, 256u);
    launch.config.checker = checker(kinds);
    return fault_of(kernel(body), launch);
}
constexpr CheckKinds all_checks{.wait = true, .init = true, .race = true};

bool has(const std::string &text, const std::string &part) { return text.find(part) != text.npos; }

// The whole buffer: a descriptor of `bytes` bytes at s[2:3], in s[12:15].
std::string descriptor(u32 bytes) {
    return fmt::format("  s_mov_b64 s[12:13], s[2:3]\n  s_mov_b32 s14, {}\n"
                       "  s_mov_b32 s15, 0x31016fac\n",
                       bytes);
}

} // namespace

TEST_CASE("scalar stores: 1, 2 and 4 dwords, offsets of every kind") {
    Words out = after("  s_store_b32 s8, s[2:3], 0x4\n  s_movk_i32 s20, 16\n"
                      "  s_store_b64 s[8:9], s[2:3], s20\n"
                      "  s_store_b128 s[8:11], s[2:3], s20 offset:0x10\n"
                      "  s_add_u32 s22, s2, 0x43\n  s_addc_u32 s23, s3, 0\n"
                      "  s_store_b32 s9, s[22:23], -0x1\n"); // 0x40: bits 1:0 are ignored
    CHECK(Words(out.begin(), out.begin() + 13) ==
          Words{0, 1000, 0, 0, 1000, 2000, 0, 0, 1000, 2000, 3000, 4000, 0});
    CHECK(out[15] == 2000);
}

TEST_CASE("scalar stores don't depend on EXEC") {
    CHECK(after("  s_mov_b32 exec_lo, 0\n  s_store_b32 s8, s[2:3], 0x0\n")[0] == 1000);
}

TEST_CASE("an SGPR offset of scalar scratch counts 64 bytes") {
    Words initial(64);
    initial[33] = 77; // at 2 * 64 + 4 bytes
    const Words out = after("  s_mov_b32 s20, 2\n  s_scratch_load_b32 s16, s[2:3], s20 offset:0x4\n"
                            "  s_waitcnt lgkmcnt(0)\n  s_mov_b32 s21, 1\n  s_mov_b32 s17, s9\n"
                            "  s_scratch_store_b64 s[16:17], s[2:3], s21\n"
                            "  s_scratch_store_b32 s8, s[2:3], 0x8\n",
                            initial);
    CHECK(out[2] == 1000);
    CHECK(out[16] == 77);
    CHECK(out[17] == 2000);
}

TEST_CASE("scalar atomics: operations of both widths, the old value with glc") {
    struct Case {
        const char *op;
        u64 old, data, want;
    };
    constexpr u64 minus_one = ~u64{0};
    const Case cases[] = {
        {"swap_b", 7, 9, 9},
        {"add_u", 7, 9, 16},
        {"sub_u", 7, 9, minus_one - 1},
        {"min_i", 7, minus_one, minus_one},
        {"min_u", 7, minus_one, 7},
        {"max_i", 7, minus_one, 7},
        {"max_u", 7, minus_one, minus_one},
        {"and_b", 12, 10, 8},
        {"or_b", 12, 10, 14},
        {"xor_b", 12, 10, 6},
        {"inc_u", 7, 9, 8},
        {"inc_u", 9, 9, 0},
        {"dec_u", 7, 9, 6},
        {"dec_u", 0, 9, 9},
        {"dec_u", 10, 9, 9},
    };
    for (const Case &c : cases)
        for (bool wide : {false, true})
            for (bool buffer : {false, true}) {
                const std::string data = wide ? "s[20:21]" : "s20";
                const std::string text = fmt::format(
                    "{}  s_mov_b32 s20, {:#x}\n  s_mov_b32 s21, {:#x}\n"
                    "  s_{}atomic_{}{} {}, {}, 0x8 glc\n  s_waitcnt lgkmcnt(0)\n"
                    "  s_store_b64 s[20:21], s[2:3], 0x10\n",
                    descriptor(64), c.data & 0xffffffff, c.data >> 32, buffer ? "buffer_" : "",
                    c.op, wide ? 64 : 32, data, buffer ? "s[12:15]" : "s[2:3]");
                CAPTURE(text);
                const Words out =
                    after(text, {0, 0, static_cast<u32>(c.old), static_cast<u32>(c.old >> 32)});
                CHECK(out[2] == static_cast<u32>(c.want));
                CHECK(out[3] == (wide ? static_cast<u32>(c.want >> 32) : c.old >> 32));
                CHECK(out[4] == static_cast<u32>(c.old));
                CHECK(out[5] == static_cast<u32>(wide ? c.old >> 32 : c.data >> 32));
            }
}

TEST_CASE("scalar compare and swap: the new value, then the one compared with") {
    for (u32 compare : {5u, 6u}) {
        const std::string values =
            fmt::format("  s_mov_b32 s20, 99\n  s_mov_b32 s21, {}\n", compare);
        Words out = after(values + "  s_atomic_cmpswap_b32 s[20:21], s[2:3], 0x0 glc\n"
                                   "  s_waitcnt lgkmcnt(0)\n  s_store_b64 s[20:21], s[2:3], 0x8\n",
                          {5});
        CHECK(Words(out.begin(), out.begin() + 4) == Words{compare == 5 ? 99u : 5u, 0, 5, compare});
        const std::string wide = fmt::format(
            "  s_mov_b64 s[20:21], 99\n  s_mov_b32 s22, {}\n  s_mov_b32 s23, 1\n", compare);
        out = after(wide + "  s_atomic_cmpswap_b64 s[20:23], s[2:3], 0x0\n", {5, 1});
        CHECK(Words(out.begin(), out.begin() + 2) == (compare == 5 ? Words{99, 0} : Words{5, 1}));
    }
}

TEST_CASE("scalar atomics of many waves add up, and each one's old value is another") {
    const std::string body =
        "  s_mov_b32 s20, 1\n  s_atomic_add_u32 s20, s[2:3], 0x0 glc\n  s_waitcnt lgkmcnt(0)\n"
        "  s_lshl_b32 s21, s20, 2\n  s_add_u32 s20, s20, 500\n"
        "  s_store_b32 s20, s[2:3], s21 offset:0x4\n" +
        done;
    const Words out = run(kernel(body), Launch{.grid = {60, 1, 1}});
    CHECK(out[0] == 60);
    for (u32 n = 0; n < 60; ++n)
        CHECK(out[1 + n] == 500 + n);
}

TEST_CASE("scalar buffers: dwords out of bounds are not written, an atomic there does nothing") {
    Words out = after(descriptor(24) + "  s_buffer_store_b128 s[8:11], s[12:15], 0x10\n"
                                       "  s_buffer_store_b32 s8, s[12:15], 0x18\n");
    CHECK(Words(out.begin() + 4, out.begin() + 8) == Words{1000, 2000, 0, 0});
    out = after(descriptor(8) + "  s_buffer_atomic_add_u32 s8, s[12:15], 0x8 glc\n"
                                "  s_waitcnt lgkmcnt(0)\n  s_store_b32 s8, s[2:3], 0x10\n",
                {1, 2, 3, 4, 5});
    CHECK(Words(out.begin(), out.begin() + 5) == Words{1, 2, 3, 4, 0});
}

TEST_CASE("a scalar store to where nothing is, to code or past the end is a fault, to the byte") {
    const std::string far = "  s_mov_b32 s8, 1\n  s_store_b32 s8, s[2:3], 0x100\n";
    CHECK(has(fault_of(kernel(far + done), Launch{.words = 64}), "writes 4 bytes"));
    CHECK(fault_of(kernel(far + done), Launch{.words = 65}) == "");
    CHECK(has(fault_of(kernel("  s_getpc_b64 s[20:21]\n  s_store_b32 s2, s[20:21], 0x0\n" + done)),
              "which is code"));
    CHECK(has(fault_of(kernel("  s_atomic_add_u64 s[4:5], s[2:3], 0x4\n")), "misaligned atomic"));
}

TEST_CASE("the checkers find nothing in scalar stores that are waited for and written back") {
    CHECK(checked("  s_mov_b32 s8, 1\n  s_store_b32 s8, s[2:3], 0x0\n"
                  "  s_atomic_add_u32 s8, s[2:3], 0x4 glc\n  s_waitcnt lgkmcnt(0)\n"
                  "  s_add_u32 s8, s8, 1\n" +
                      done,
                  all_checks) == "");
}

TEST_CASE("wait: a scalar atomic's result is in flight until lgkmcnt(0); stores are lost without "
          "s_dcache_wb") {
    const std::string atomic = "  s_mov_b32 s8, 1\n  s_atomic_add_u32 s8, s[2:3], 0x4 glc\n";
    CHECK(has(checked(atomic + "  s_mov_b32 s9, s8\n", {.wait = true}),
              "s8 is read while it is in flight"));
    CHECK(has(checked(atomic + "  s_load_b32 s9, s[2:3], 0x0\n  s_waitcnt lgkmcnt(1)\n"
                               "  s_mov_b32 s9, s8\n",
                      {.wait = true}),
              "s_waitcnt lgkmcnt(0)")); // out of order
    const std::string store = "  s_mov_b32 s8, 1\n  s_store_b32 s8, s[2:3], 0x4\n";
    CHECK(has(checked(store, {.wait = true}), "put s_dcache_wb before"));
    CHECK(has(checked("  s_dcache_wb\n" + store, {.wait = true}), "S-077"));
    CHECK(checked(store + done, {.wait = true}) == "");
}

TEST_CASE("init: an SGPR that was never written, as value and as offset") {
    CHECK(has(checked("  s_store_b32 s40, s[2:3], 0x4\n" + done, {.init = true}),
              "a value stored to memory"));
    CHECK(has(checked("  s_atomic_add_u32 s40, s[2:3], 0x4\n", {.init = true}),
              "a value stored to memory"));
    CHECK(has(checked("  s_store_b32 s2, s[2:3], s40\n" + done, {.init = true}), "an address"));
    CHECK(has(checked("  s_scratch_load_b32 s8, s[2:3], s40\n", {.init = true}), "an address"));
}

TEST_CASE("race: a scalar store is ordered by s_dcache_wb, a wait and a barrier") {
    // Wave 0 stores, wave 1 loads.
    const auto body = [](const std::string &between) {
        return "  v_readfirstlane_b32 s20, v0\n  s_movk_i32 s8, 5\n  s_cmp_lg_u32 s20, 0\n"
               "  s_cbranch_scc1 .Lmeet\n  s_store_b32 s8, s[2:3], 0x0\n" +
               between +
               ".Lmeet:\n  s_barrier\n  s_cmp_eq_u32 s20, 0\n  s_cbranch_scc1 .Lout\n"
               "  v_mov_b32 v1, 0\n  global_load_b32 v2, v1, s[2:3]\n  s_waitcnt vmcnt(0)\n"
               ".Lout:\n" +
               done;
    };
    const auto races = [&](const std::string &between) {
        return checked(body(between), {.race = true}, Launch{.block = {64, 1, 1}});
    };
    CHECK(races(done) == "");
    CHECK(has(races(""), "put s_dcache_wb and s_waitcnt lgkmcnt(0) before"));
    CHECK(has(races("  s_waitcnt lgkmcnt(0)\n"), "put s_dcache_wb"));
    CHECK(has(races("  s_dcache_wb\n"), "put s_dcache_wb"));
    // No barrier at all: two workgroups. The same value from both is no race, nor are atomics.
    const Launch two{.grid = {2, 1, 1}};
    CHECK(checked("  s_movk_i32 s8, 5\n  s_store_b32 s8, s[2:3], 0x0\n" + done, {.race = true},
                  two) == "");
    CHECK(checked("  s_movk_i32 s8, 5\n  s_atomic_add_u32 s8, s[2:3], 0x0\n", {.race = true},
                  two) == "");
}
