// SPDX-License-Identifier: MIT
// WMMA against plain matrix products of small integers, which no order of additions rounds.
#include <doctest/doctest.h>

#include <bit>
#include <fmt/format.h>
#include <random>

#include "sim/assemble.h"
#include "sim/func/choices.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

struct Case {
    const char *name;
    const char *type; // of A and B: f16, bf16, fp8, bf8, iu8, iu4
    const char *result;
    unsigned k;
    const char *type_b = nullptr; // where B has another one
};

// Small integers: as f32, cut to the sign, exponent and leading fraction bits.
u32 encode_short(i32 v, int bias, unsigned fraction_bits) {
    u32 f = std::bit_cast<u32>(static_cast<f32>(v));
    u32 exponent = (f >> 23 & 255) - 127 + static_cast<u32>(bias);
    return v == 0 ? 0
                  : f >> 31 << 7 | exponent << fraction_bits |
                        (f >> (23 - fraction_bits) & ((1u << fraction_bits) - 1));
}

u32 encode(const std::string &type, i32 v) {
    if (type == "bf16")
        return std::bit_cast<u32>(static_cast<f32>(v)) >> 16;
    if (type == "f16")
        return std::bit_cast<u16>(static_cast<_Float16>(v));
    if (type == "fp8" || type == "bf8")
        return type == "fp8" ? encode_short(v, 7, 3) : encode_short(v, 15, 2);
    return static_cast<u32>(v) & (type == "iu8" ? 0xff : 0xf);
}

f32 decode(const std::string &type, u32 bits) {
    if (type == "i32")
        return static_cast<f32>(static_cast<i32>(bits));
    if (type == "f32")
        return std::bit_cast<f32>(bits);
    if (type == "bf16")
        return std::bit_cast<f32>(bits << 16);
    return static_cast<f32>(std::bit_cast<_Float16>(static_cast<u16>(bits)));
}

unsigned bits_of(const std::string &type) {
    return type == "iu8" || type == "fp8" || type == "bf8" ? 8 : type == "iu4" ? 4 : 16;
}

struct Matrices {
    i32 a[16][64], b[64][16], c[16][16];
};

// gfx11 adds terms of mixed signs with an error of its grid (S-004): it gets none.
Matrices random_matrices(unsigned k, unsigned bits, bool mixed_signs) {
    std::mt19937 random(k * 31 + bits);
    auto small = [&] { return static_cast<i32>(random() % 7) - (mixed_signs ? 3 : 0); };
    Matrices m;
    for (unsigned i = 0; i < 16; ++i)
        for (unsigned n = 0; n < k; ++n)
            m.a[i][n] = small(), m.b[n][i] = small();
    for (auto &row : m.c)
        for (i32 &x : row)
            x = small();
    return m;
}

// Register v of A, or B transposed, in this lane. gfx11: a lane has a whole row. gfx12: k is spread
// over the groups of 16 lanes.
u32 factor_word(const Case &c, const char *type, bool gfx12, u32 wave, unsigned v, unsigned lane,
                auto element) {
    unsigned per_word = 32 / bits_of(c.type), groups = gfx12 ? wave / 16 : 1;
    bool narrow = gfx12 && wave == 64 && bits_of(c.type) == 4 && c.k == 16; // lanes 0-31 only
    groups = narrow ? 2 : groups;
    unsigned group = gfx12 ? lane / 16 : 0, per_lane = c.k / groups;
    u32 word = 0;
    for (unsigned e = 0; e < per_word && group < groups; ++e) {
        unsigned n = group * per_lane + v * per_word + e;
        word |= encode(type, element(lane % 16, n)) << e * bits_of(c.type);
    }
    return word;
}

unsigned factor_registers(const Case &c, bool gfx12, u32 wave) {
    unsigned words = c.k * bits_of(c.type) / 32;
    return std::max(1u, gfx12 ? words / (wave / 16) : words);
}

void check(const std::string &gfx, u32 wave, const Case &c) {
    bool gfx12 = is_gfx12(gfx), wide = c.result[1] == '3';
    unsigned ab = factor_registers(c, gfx12, wave), elements = 256 / wave;
    unsigned cd = gfx12 && !wide ? elements / 2 : elements;
    Matrices m = random_matrices(c.k, bits_of(c.type), gfx12 || c.type[0] == 'i');
    auto row = [&](unsigned e, unsigned lane) {
        return gfx12 ? e + 8 * (lane / 16 % 2) + 4 * (lane / 32) : wave / 16 * e + lane / 16;
    };
    std::vector<u32> in(wave * 32); // per lane: A at 0, B at 8, C at 16
    std::string result = c.result;
    for (unsigned l = 0; l < wave; ++l) {
        u32 *lane = &in[l * 32];
        for (unsigned v = 0; v < ab; ++v) {
            lane[v] = factor_word(c, c.type, gfx12, wave, v, l,
                                  [&](unsigned i, unsigned n) { return m.a[i][n]; });
            lane[8 + v] = factor_word(c, c.type_b ? c.type_b : c.type, gfx12, wave, v, l,
                                      [&](unsigned i, unsigned n) { return m.b[n][i]; });
        }
        for (unsigned e = 0; e < elements; ++e) {
            i32 x = m.c[row(e, l)][l % 16];
            u32 bits = result == "f32"   ? std::bit_cast<u32>(static_cast<f32>(x))
                       : result == "i32" ? static_cast<u32>(x)
                                         : encode(result, x);
            if (wide || !gfx12)
                lane[16 + e] = bits;
            else
                lane[16 + e / 2] |= bits << 16 * (e & 1);
        }
    }
    KernelText k;
    k.gfx = gfx;
    k.wave = wave;
    k.body = "  v_lshlrev_b32 v40, 7, v0\n";
    for (unsigned q = 0; q < 6; ++q)
        k.body += fmt::format("  global_load_b128 v[{}:{}], v40, s[2:3] offset:{}\n", 8 + 4 * q,
                              11 + 4 * q, 16 * q);
    k.body += gfx12 ? "  s_wait_loadcnt 0\n" : "  s_waitcnt vmcnt(0)\n";
    auto range = [](unsigned first, unsigned count) {
        return count == 1 ? fmt::format("v{}", first)
                          : fmt::format("v[{}:{}]", first, first + count - 1);
    };
    k.body += fmt::format("  {} {}, {}, {}, {}{}\n", c.name, range(24, cd), range(8, ab),
                          range(16, ab), range(24, cd), c.type[0] == 'i' ? " neg_lo:[1,1,0]" : "");
    for (unsigned q = 0; q < 2; ++q)
        k.body += fmt::format("  global_store_b128 v40, v[{}:{}], s[2:3] offset:{}\n", 24 + 4 * q,
                              27 + 4 * q, 16 * q);
    Launch launch;
    launch.block = {wave, 1, 1};
    launch.initial = in;
    launch.words = wave * 32;
    auto out = run(k, launch);
    CHECK(launch.stats.insts.wmma == 1);
    for (unsigned l = 0; l < wave; ++l)
        for (unsigned e = 0; e < elements; ++e) {
            unsigned i = row(e, l), j = l % 16;
            i32 want = m.c[i][j];
            for (unsigned n = 0; n < c.k; ++n)
                want += m.a[i][n] * m.b[n][j];
            u32 word = wide || !gfx12 ? out[l * 32 + e] : out[l * 32 + e / 2] >> 16 * (e & 1);
            INFO(gfx, " wave", wave, " ", c.name, " row ", i, " column ", j);
            REQUIRE(decode(result, wide ? word : word & 0xffff) == static_cast<f32>(want));
        }
}

const Case both[] = {
    {"v_wmma_f32_16x16x16_f16", "f16", "f32", 16},
    {"v_wmma_f32_16x16x16_bf16", "bf16", "f32", 16},
    {"v_wmma_f16_16x16x16_f16", "f16", "f16", 16},
    {"v_wmma_bf16_16x16x16_bf16", "bf16", "bf16", 16},
    {"v_wmma_i32_16x16x16_iu8", "iu8", "i32", 16},
    {"v_wmma_i32_16x16x16_iu4", "iu4", "i32", 16},
};

} // namespace

TEST_CASE("matrix products of small integers are exact") {
    for (const char *gfx : {"gfx1100", "gfx1151", "gfx1200", "gfx1201"})
        for (u32 wave : {32u, 64u})
            for (const Case &c : both)
                check(gfx, wave, c);
    for (u32 wave : {32u, 64u})
        check("gfx1201", wave, {"v_wmma_i32_16x16x32_iu4", "iu4", "i32", 32});
    for (const char *gfx : {"gfx1200", "gfx1201"})
        for (u32 wave : {32u, 64u})
            for (const char *adding : {"step8", "step4", "exact", "chain"}) {
                ChoicesScope scope(std::string("fp8_wmma=") + adding);
                check(gfx, wave, {"v_wmma_f32_16x16x16_fp8_fp8", "fp8", "f32", 16});
                check(gfx, wave, {"v_wmma_f32_16x16x16_fp8_bf8", "fp8", "f32", 16, "bf8"});
                check(gfx, wave, {"v_wmma_f32_16x16x16_bf8_fp8", "bf8", "f32", 16, "fp8"});
                check(gfx, wave, {"v_wmma_f32_16x16x16_bf8_bf8", "bf8", "f32", 16});
            }
}

TEST_CASE("WMMA takes modifiers and constants, and ignores EXEC") {
    // Every A and B is 1, so a product is 16; lane 0 of v24.
    auto first = [](const std::string &rest) {
        KernelText k;
        k.body = R"(
  s_mov_b32 s6, 0x3c003c00
)";
        for (int v = 8; v < 24; ++v)
            k.body += fmt::format("  v_mov_b32 v{}, s6\n", v);
        for (int v = 24; v < 32; ++v)
            k.body += fmt::format("  v_mov_b32 v{}, 0xbf800000\n", v);
        k.body +=
            "  s_mov_b32 exec_lo, 0\n  v_wmma_f32_16x16x16_f16 v[24:31], v[8:15], v[16:23], " +
            rest +
            "\n  s_mov_b32 exec_lo, -1\n  v_lshlrev_b32 v40, 2, v0\n"
            "  global_store_b32 v40, v24, s[2:3]";
        return std::bit_cast<f32>(run(k)[0]);
    };
    using doctest::Approx; // S-004
    CHECK(first("v[24:31]") == Approx(15));
    CHECK(first("1.0") == 17);
    CHECK(first("v[24:31] neg_lo:[0,0,1]") == 17);
    CHECK(first("v[24:31] neg_hi:[0,0,1]") == 17);
    CHECK(first("v[24:31] neg_lo:[1,0,0]") == Approx(-1));
    CHECK(first("v[24:31] neg_lo:[1,0,0] neg_hi:[1,0,0]") == Approx(-17));
}

TEST_CASE("integer WMMA with CLAMP saturates: gfx12 after each half of the products") {
    // Row 0, column 0: 127 * 127 among k 0-7, its negative among 8-15; C is the largest i32.
    auto corner = [](const std::string &gfx, const std::string &modifiers) {
        bool gfx12 = is_gfx12(gfx);
        KernelText k;
        k.gfx = gfx;
        k.body = "  v_mov_b32 v24, 0x7fffffff\n";
        for (int v = 8; v < 16; ++v)
            k.body += fmt::format("  v_mov_b32 v{}, 0\n", v);
        for (int v = 25; v < 32; ++v)
            k.body += fmt::format("  v_mov_b32 v{}, 0\n", v);
        // gfx11: four dwords in every lane. gfx12: k 8-15 start in lane 16.
        k.body += gfx12 ? "  v_mov_b32 v8, 0x81\n  v_mov_b32 v12, 0x7f\n"
                        : "  v_mov_b32 v8, 0x7f\n  v_mov_b32 v10, 0x81\n"
                          "  v_mov_b32 v12, 0x7f\n  v_mov_b32 v14, 0x7f\n";
        if (gfx12)
            k.body += "  s_mov_b32 s9, exec_lo\n  s_mov_b32 exec_lo, 0xffff\n"
                      "  v_mov_b32 v8, 0x7f\n  s_mov_b32 exec_lo, s9\n";
        k.body += fmt::format("  v_wmma_i32_16x16x16_iu8 v[24:31], v[8:{}], v[12:{}], v[24:31] "
                              "neg_lo:[1,1,0]{}\n"
                              "  v_lshlrev_b32 v40, 2, v0\n"
                              "  global_store_b32 v40, v24, s[2:3]",
                              gfx12 ? 9 : 11, gfx12 ? 13 : 15, modifiers);
        return run(k)[0];
    };
    CHECK(corner("gfx1201", "") == 0x7fffffff);
    CHECK(corner("gfx1201", " clamp") == 0x7fffffff - 127 * 127);
    CHECK(corner("gfx1151", " clamp") == 0x7fffffff);
    ChoicesScope scope("matrix_clamp=once");
    CHECK(corner("gfx1201", " clamp") == 0x7fffffff);
}

namespace {

// Lanes' first result of one WMMA after `setup`, which writes A to v8.., B to v16.., C to v24...
std::vector<u32> first_results(const std::string &gfx, const std::string &name,
                               const std::string &setup, const std::string &modifiers = "") {
    const char *factors = is_gfx12(gfx) ? "v[8:11], v[16:19]" : "v[8:15], v[16:23]";
    KernelText k;
    k.gfx = gfx;
    for (int v = 8; v < 32; ++v)
        k.body += fmt::format("  v_mov_b32 v{}, 0\n", v);
    k.body += setup + fmt::format("\n  {} v[24:31], {}, v[24:31]{}\n  v_lshlrev_b32 v40, 2, v0\n"
                                  "  global_store_b32 v40, v24, s[2:3]",
                                  name, factors, modifiers);
    return run(k);
}

} // namespace

TEST_CASE("gfx11's WMMA takes A and B from lanes 0-15, or each half its own: a choice") {
    // A is 1 everywhere, B 1 in lanes 0-15 and 2 in the others.
    const std::string setup = "  v_mov_b32 v8, 0x3c00\n  v_cmp_gt_u32 vcc_lo, 16, v0\n"
                              "  v_mov_b32 v1, 0x4000\n  v_mov_b32 v2, 0x3c00\n"
                              "  v_cndmask_b32 v16, v1, v2, vcc_lo";
    const char *name = "v_wmma_f32_16x16x16_f16";
    auto both = first_results("gfx1151", name, setup);
    CHECK(both[3] == 0x3f800000);
    CHECK(both[19] == 0x3f800000);
    ChoicesScope scope("wmma_copies=own");
    auto own = first_results("gfx1151", name, setup);
    CHECK(own[3] == 0x3f800000);
    CHECK(own[19] == 0x40000000);
    for (u32 wave : {32u, 64u})
        for (const Case &c : ::both)
            check("gfx1100", wave, c);
}

TEST_CASE("a NaN in C keeps or changes its sign by the modifiers: a choice") {
    const std::string setup = "  v_mov_b32 v24, 0x7f812345";
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        auto result = [&](const std::string &modifiers) {
            return first_results(gfx, "v_wmma_f32_16x16x16_f16", setup, modifiers)[0];
        };
        CHECK(result("") == 0x7fc12345);
        CHECK(result(" neg_lo:[0,0,1]") == 0xffc12345);
        ChoicesScope scope("nan_modifiers=ignored");
        CHECK(result(" neg_lo:[0,0,1]") == 0x7fc12345);
    }
}

TEST_CASE("gfx12's BF16 WMMA keeps or flushes a subnormal C: a choice") {
    const std::string setup = "  v_mov_b32 v24, 0x80000123";
    auto result = [&](const char *name) { return first_results("gfx1201", name, setup)[0]; };
    CHECK(result("v_wmma_f32_16x16x16_bf16") == 0x80000123);
    ChoicesScope scope("bf16_subnormal_c=flushed");
    CHECK((result("v_wmma_f32_16x16x16_bf16") & 0x7fffffff) == 0);
    CHECK(result("v_wmma_f32_16x16x16_f16") == 0x80000123);
}
