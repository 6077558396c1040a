// SPDX-License-Identifier: MIT
// Memory instructions whose address is the lane, M0 or a whole matrix, rare LDS updates, and named
// barriers.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "sim/assemble.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

std::string wait_loads(bool gfx12) {
    return gfx12 ? " s_wait_loadcnt 0\n" : " s_waitcnt vmcnt(0)\n";
}
std::string wait_lds(bool gfx12) { return gfx12 ? " s_wait_dscnt 0\n" : " s_waitcnt lgkmcnt(0)\n"; }

KernelText kernel(const std::string &gfx, const std::string &body, u32 wave = 32, u32 lds = 1024) {
    KernelText k;
    k.gfx = gfx;
    k.body = body;
    k.wave = wave;
    k.lds = lds;
    return k;
}

// One lane updates LDS bytes [8, 16); the results are the old value, then those bytes.
std::vector<u32> update(const std::string &gfx, const std::string &instruction, u64 memory,
                        u64 data, u64 other) {
    auto pair = [](unsigned reg, u64 x) {
        return fmt::format(" v_mov_b32 v{}, 0x{:x}\n v_mov_b32 v{}, 0x{:x}\n", reg,
                           static_cast<u32>(x), reg + 1, static_cast<u32>(x >> 32));
    };
    bool gfx12 = is_gfx12(gfx);
    std::string body = " v_mov_b32 v1, 8\n v_mov_b32 v10, 0\n" + pair(2, memory) + pair(4, data) +
                       pair(6, other) + pair(8, 0) + " ds_store_b64 v1, v[2:3]\n " + instruction +
                       "\n ds_load_b64 v[12:13], v1\n" + wait_lds(gfx12) +
                       " global_store_b64 v10, v[8:9], s[2:3]\n"
                       " global_store_b64 v10, v[12:13], s[2:3] offset:8";
    return run(kernel(gfx, body), Launch{.block = {1, 1, 1}, .words = 4});
}

using Words = std::vector<u32>;

} // namespace

TEST_CASE("rare updates of LDS") {
    CHECK(update("gfx1151", "ds_wrap_rtn_b32 v8, v1, v4, v6", 10, 7, 100) == Words{10, 0, 3, 0});
    CHECK(update("gfx1151", "ds_wrap_rtn_b32 v8, v1, v4, v6", 5, 7, 100) == Words{5, 0, 105, 0});
    for (const char *gfx : {"gfx1010", "gfx1030", "gfx1151", "gfx1201"}) {
        std::string marked = "ds_condxchg32_rtn_b64 v[8:9], v1, v[4:5]";
        CHECK(update(gfx, marked, 0x200000001, 0x8000000700000005, 0) == Words{1, 2, 1, 7});
        CHECK(update(gfx, marked, 0x200000001, 0x0000000780000005, 0) == Words{1, 2, 5, 2});
        std::string minimum = is_gfx12(gfx) ? "ds_min_num_rtn_f64 v[8:9], v1, v[4:5]"
                                            : "ds_min_rtn_f64 v[8:9], v1, v[4:5]";
        CHECK(update(gfx, minimum, 0x4000000000000000, 0xbff0000000000000, 0) ==
              Words{0, 0x40000000, 0, 0xbff00000});
    }
    // Data, then the compare value: compared as numbers, so -0 equals 0 and NaN equals nothing.
    std::string f32 = "ds_cmpstore_rtn_f32 v8, v1, v4, v6";
    CHECK(update("gfx1151", f32, 0x80000000, 9, 0) == Words{0x80000000, 0, 9, 0});
    CHECK(update("gfx1151", f32, 0x7fc00000, 9, 0x7fc00000) == Words{0x7fc00000, 0, 0x7fc00000, 0});
    CHECK(update("gfx1151", "ds_cmpstore_f64 v1, v[4:5], v[6:7]", u64{1} << 63, 9, 0) ==
          Words{0, 0, 9, 0});
}

TEST_CASE("append and consume count the active lanes at M0") {
    for (const char *gfx : {"gfx1010", "gfx1030", "gfx1151", "gfx1201"}) {
        std::string body =
            " v_lshlrev_b32 v1, 2, v0\n v_mov_b32 v2, 16\n v_mov_b32 v3, 100\n"
            " ds_store_b32 v2, v3\n s_mov_b32 m0, 12\n s_mov_b32 exec_lo, 0x70\n"
            " ds_append v4 offset:4\n s_mov_b32 exec_lo, 0x30\n"
            " ds_consume v5 offset:4\n s_mov_b32 exec_lo, -1\n ds_load_b32 v6, v2\n" +
            wait_lds(is_gfx12(gfx)) +
            " s_mov_b32 exec_lo, 0x30\n global_store_b32 v1, v4, s[2:3]\n"
            " global_store_b32 v1, v5, s[2:3] offset:128\n"
            " global_store_b32 v1, v6, s[2:3] offset:256";
        auto out = run(kernel(gfx, body), Launch{.words = 96});
        for (u32 lane : {4u, 5u}) {
            CHECK(out[lane] == 100);
            CHECK(out[32 + lane] == 103);
            CHECK(out[64 + lane] == 101);
        }
        CHECK(out[3] == 0);
    }
}

TEST_CASE("addtid: each lane has its dword") {
    for (const char *gfx : {"gfx1030", "gfx1151", "gfx1201"})
        for (u32 wave : {32u, 64u}) {
            bool gfx12 = is_gfx12(gfx);
            std::string body = " s_mov_b32 m0, 16\n ds_store_addtid_b32 v0 offset:8\n"
                               " v_lshlrev_b32 v1, 2, v0\n ds_load_b32 v2, v1 offset:24\n"
                               " ds_load_addtid_b32 v3 offset:8\n" +
                               wait_lds(gfx12) +
                               " v_lshl_add_u32 v2, v3, 8, v2\n"
                               " global_store_addtid_b32 v2, s[2:3] offset:4\n"
                               " global_load_addtid_b32 v4, s[2:3] offset:4\n" +
                               wait_loads(gfx12) + " global_store_b32 v1, v4, s[2:3] offset:512";
            auto out = run(kernel(gfx, body, wave), Launch{.block = {wave, 1, 1}, .words = 256});
            for (u32 l = 0; l < wave; ++l) {
                CHECK(out[1 + l] == l * 257);
                CHECK(out[128 + l] == l * 257);
            }
        }
}

TEST_CASE("blocks: M0 chooses registers, their places stay") {
    std::string body = " v_mov_b32 v1, 0\n s_mov_b32 exec_lo, 1\n";
    for (u32 r = 8; r < 40; ++r)
        body += fmt::format(" v_mov_b32 v{}, {}\n", r, r);
    body += " s_mov_b32 m0, 0x80000005\n global_load_block v[8:39], v1, s[2:3]\n" +
            wait_loads(true) +
            " s_mov_b32 m0, 0x8000000f\n global_store_block v1, v[8:39], s[2:3] offset:128\n";
    std::vector<u32> in(64, 7);
    for (u32 n = 0; n < 32; ++n)
        in[n] = 1000 + n;
    auto out = run(kernel("gfx1201", body), Launch{.initial = in, .words = 64});
    CHECK(out[32] == 1000);
    CHECK(out[33] == 9);
    CHECK(out[34] == 1002);
    CHECK(out[35] == 11);
    CHECK(out[36] == 7);
    CHECK(out[62] == 7);
    CHECK(out[63] == 1031);
}

TEST_CASE("gfx12 atomics return the old value by the lowest bit of any temporal hint") {
    // 5 is added to a dword for each hint; the result is in v4, or where a buffer's data was.
    constexpr u32 device = 2, global = 0xee0d4002, flat = 0xec0d407c, buffer = 0xc40d407c;
    for (const u32 scope : {0u, device})
        for (const u32 kind : {global, flat, buffer}) {
            CAPTURE(scope);
            CAPTURE(kind);
            const u32 result = kind == buffer ? 3 : 4, kept = kind == buffer ? 5 : 77;
            std::string body = " s_mov_b32 exec_lo, 1\n v_mov_b32 v1, 0\n s_mov_b32 s4, s2\n"
                               " s_mov_b32 s5, s3\n s_mov_b32 s6, 64\n"
                               " s_mov_b32 s7, 0x30016fac\n v_mov_b32 v8, s2\n"
                               " v_mov_b32 v9, s3\n";
            Words want(16);
            for (u32 hint = 0; hint < 8; ++hint) {
                const u32 word1 = (kind == buffer ? 0x40800800 : 0x01800000) | hint << 20 |
                                  scope << 18 | result,
                          word2 = 4 * hint << 8 | (kind == flat ? 8 : 1);
                body += fmt::format(" v_mov_b32 v3, 5\n v_mov_b32 v4, 77\n"
                                    " .long {:#x}, {:#x}, {:#x}\n"
                                    " s_wait_loadcnt 0\n s_wait_storecnt 0\n"
                                    " global_store_b32 v1, v{}, s[2:3] offset:{}\n",
                                    kind, word1, word2, result, 32 + 4 * hint);
                want[hint] = 35;
                want[8 + hint] = hint & 1 ? 30 : kept;
            }
            CHECK(run(kernel("gfx1201", body), Launch{.initial = Words(8, 30), .words = 16}) ==
                  want);
        }
}

TEST_CASE("ordered add: only the one whose turn it is") {
    std::string body = " v_mov_b32 v1, 0\n v_mov_b32 v3, 10\n s_mov_b32 exec_lo, 3\n"
                       " v_add_nc_u32 v2, 5, v0\n"
                       " global_atomic_ordered_add_b64 v[4:5], v1, v[2:3], s[2:3] "
                       "th:TH_ATOMIC_RETURN\n"
                       " s_wait_loadcnt 0\n v_lshlrev_b32 v6, 3, v0\n"
                       " global_store_b64 v6, v[4:5], s[2:3] offset:8";
    // Lanes 0 and 1 come for turns 5 and 6.
    CHECK(run(kernel("gfx1201", body), Launch{.initial = {5, 100}, .words = 6}) ==
          Words{7, 120, 5, 100, 6, 110});
    CHECK(run(kernel("gfx1201", body), Launch{.initial = {6, 100}, .words = 6}) ==
          Words{7, 110, 6, 100, 6, 100});
}

TEST_CASE("transposing loads: a column of each lane group's rows, wave64 in two halves") {
    for (bool bytes : {false, true})
        for (u32 wave : {32u, 64u}) {
            u32 registers = (bytes ? 2 : 4) / (wave / 32), size = bytes ? 8 : 16;
            std::string body =
                fmt::format(" v_mul_u32_u24 v1, {}, v0\n v_lshlrev_b32 v2, 2, v0\n"
                            " global_load_tr_{} {}, v1, s[2:3]\n",
                            size, bytes ? "b64" : "b128",
                            registers == 1 ? "v4" : fmt::format("v[4:{}]", 3 + registers)) +
                wait_loads(true);
            for (u32 r = 0; r < registers; ++r)
                body += fmt::format(" global_store_b32 v2, v{}, s[2:3] offset:{}\n", 4 + r,
                                    1024 + 256 * r);
            std::vector<u32> in(32 * size / 4);
            auto raw = reinterpret_cast<u8 *>(in.data());
            for (u32 n = 0; n < 32 * 8; ++n) { // element n is lane n / 8's n % 8
                if (bytes)
                    raw[n] = static_cast<u8>(n);
                else
                    raw[2 * n] = static_cast<u8>(n), raw[2 * n + 1] = 1;
            }
            auto out = run(kernel("gfx1201", body, wave),
                           Launch{.block = {wave, 1, 1}, .initial = in, .words = 512});
            auto got = [&](u32 lane, u32 element) { // as wave32 has them
                u32 per_word = bytes ? 4 : 2, word = element / per_word;
                u32 x = out[256 + 64 * (word % registers) + lane + 32 * (word / registers)];
                return x >> element % per_word * (bytes ? 8 : 16) & 0xff;
            };
            // Manually: lane 9 gets the second element of lanes 8 to 15, or of 4 to 7 and 12 to 15.
            u32 first = bytes ? 4 : 8, fifth = 12;
            CHECK(got(9, 0) == 8 * first + 1);
            CHECK(got(9, 3) == 8 * (first + 3) + 1);
            CHECK(got(9, 4) == 8 * fifth + 1);
            CHECK(got(9, 7) == 8 * (fifth + 3) + 1);
            CHECK(got(16, 0) == 8 * 16);
            CHECK(got(31, 7) == 8 * 31 + 7);
        }
    CHECK(fault_of(kernel("gfx1201", " s_mov_b32 exec_lo, 1\n v_mov_b32 v1, 0\n"
                                     " global_load_tr_b64 v[4:5], v1, s[2:3]"))
              .find("EXEC must be all ones") != std::string::npos);
}

TEST_CASE("a named barrier holds its members, not the others") {
    // Waves 1 and 2 of three meet; wave 2 stores before, wave 1 reads after. Wave 0 goes on.
    std::string body = R"(
 v_readfirstlane_b32 s6, v0
 v_mov_b32 v1, 0
 v_mov_b32 v2, 77
 s_mov_b32 m0, 0x20003
 s_cmp_lg_u32 s6, 0
 s_cbranch_scc1 .Lafter_init
 s_barrier_init m0
.Lafter_init:
 s_barrier_signal -1
 s_barrier_wait -1
 s_cmp_eq_u32 s6, 0
 s_cbranch_scc1 .Lend0
 s_barrier_join 3
 s_cmp_eq_u32 s6, 32
 s_cbranch_scc1 .Lmeet
 ds_store_b32 v1, v2
 s_wait_dscnt 0
.Lmeet:
 s_barrier_signal 3
 s_barrier_wait 3
 s_cmp_lg_u32 s6, 32
 s_cbranch_scc1 .Lend0
 ds_load_b32 v3, v1
 s_get_barrier_state s7, 3
 v_mov_b32 v4, s7
 s_wait_dscnt 0
 global_store_b64 v1, v[3:4], s[2:3]
.Lend0:)";
    auto out = run(kernel("gfx1201", body), Launch{.block = {96, 1, 1}});
    CHECK(out[0] == 77);
    CHECK((out[1] & 1) == 1);
    CHECK(fault_of(kernel("gfx1201", " s_barrier_wait 3")).find("has not joined") !=
          std::string::npos);
}

TEST_CASE("subvector loops run each half of EXEC that has lanes") {
    for (u64 exec : {0x30000000fULL, 0xfULL, 0x300000000ULL, 0ULL}) {
        std::string body = fmt::format(" v_lshlrev_b32 v1, 2, v0\n v_mov_b32 v2, 9\n"
                                       " s_mov_b32 s8, 0\n s_mov_b32 exec_lo, 0x{:x}\n"
                                       " s_mov_b32 exec_hi, 0x{:x}\n",
                                       static_cast<u32>(exec), static_cast<u32>(exec >> 32)) +
                           R"( s_subvector_loop_begin s6, 3
 s_add_u32 s8, s8, 1
 v_mov_b32 v2, s8
 s_subvector_loop_end s6, 65533
 s_mov_b64 exec, -1
 v_mov_b32 v3, s8
 global_store_b32 v1, v2, s[2:3]
 global_store_b32 v1, v3, s[2:3] offset:256)";
        auto out = run(kernel("gfx1151", body, 64), Launch{.block = {64, 1, 1}, .words = 128});
        u32 low = static_cast<u32>(exec) != 0, high = exec >> 32 != 0;
        CAPTURE(exec);
        CHECK(out[64] == low + high);
        CHECK(out[0] == (low ? 1 : 9));
        CHECK(out[33] == (high ? low + high : 9));
        CHECK(out[5] == 9);
    }
}

TEST_CASE("s_code_end and halting fault, s_setkill ends, out of scope is named") {
    auto text = [](const std::string &body) { return fault_of(kernel("gfx1151", body)); };
    auto has = [](const std::string &text, const std::string &part) {
        CHECK_MESSAGE(text.find(part) != text.npos, "no '" << part << "' in: " << text);
    };
    has(text(" s_code_end"), "illegal instruction: s_code_end");
    has(text(" s_sethalt 1"), "halts itself");
    has(text(" s_sendmsghalt 1"), "halts itself");
    CHECK(text(" s_sethalt 0\n s_wakeup\n s_incperflevel 1\n ds_nop\n s_setkill 1\n s_trap 2") ==
          "");
    has(text(" ds_add_gs_reg_rtn v[2:3], v0 offset:4 gds"), "GDS and GWS");
    has(text(" ds_add_u32 v0, v0 gds"), "GDS is out of scope");
    CHECK(text(" s_sendmsg_rtn_b64 s[6:7], sendmsg(MSG_RTN_GET_REALTIME)") == "");
    has(text(" s_sendmsg_rtn_b32 s6, sendmsg(MSG_RTN_SAVE_WAVE)"), "message 0x84");
}
