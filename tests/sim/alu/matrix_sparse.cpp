// SPDX-License-Identifier: MIT
// SWMMAC against plain products of small integers: where its operands and its index lie in wave32
// and wave64, every pattern of the index, both keys, signs, CLAMP.
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
    const char *name, *a, *b, *c; // element types
    unsigned k;
};

const Case cases[] = {
    {"v_swmmac_f32_16x16x32_f16", "f16", "f16", "f32", 32},
    {"v_swmmac_f32_16x16x32_bf16", "bf16", "bf16", "f32", 32},
    {"v_swmmac_f16_16x16x32_f16", "f16", "f16", "f16", 32},
    {"v_swmmac_bf16_16x16x32_bf16", "bf16", "bf16", "bf16", 32},
    {"v_swmmac_f32_16x16x32_fp8_fp8", "fp8", "fp8", "f32", 32},
    {"v_swmmac_f32_16x16x32_fp8_bf8", "fp8", "bf8", "f32", 32},
    {"v_swmmac_f32_16x16x32_bf8_fp8", "bf8", "fp8", "f32", 32},
    {"v_swmmac_f32_16x16x32_bf8_bf8", "bf8", "bf8", "f32", 32},
    {"v_swmmac_i32_16x16x32_iu8", "iu8", "iu8", "i32", 32},
    {"v_swmmac_i32_16x16x32_iu4", "iu4", "iu4", "i32", 32},
    {"v_swmmac_i32_16x16x64_iu4", "iu4", "iu4", "i32", 64},
};

unsigned bits_of(const std::string &t) {
    return t == "f32" || t == "i32" ? 32 : t == "f16" || t == "bf16" ? 16 : t == "iu4" ? 4 : 8;
}

u32 encode(const std::string &t, i32 v) {
    u32 f = std::bit_cast<u32>(static_cast<f32>(v));
    if (t == "f32")
        return f;
    if (t == "bf16")
        return f >> 16;
    if (t == "f16" || t == "bf8") { // bf8 is the upper byte of an f16
        u32 half = std::bit_cast<u16>(static_cast<_Float16>(v));
        return t == "f16" ? half : half >> 8;
    }
    const u32 fp8[] = {0, 0x38, 0x40, 0x44}; // 0 to 3
    if (t == "fp8")
        return (v < 0 ? 0x80 : 0) | fp8[std::abs(v)];
    return static_cast<u32>(v) & (t == "i32" ? ~0u : (1u << bits_of(t)) - 1);
}

struct Place {
    unsigned lane, element; // lane of row or column 0
};

// Which 16 lanes of a wave64 hold a block of k: odd blocks lie in lanes 32-63.
unsigned swapped(unsigned block) { return 2 * (block & 1) + (block >> 1); }

// Element s of group g of a row of A.
Place place_a(const Case &c, u32 wave, unsigned g, unsigned s) {
    unsigned bits = bits_of(c.a);
    if (bits == 16)
        return wave == 32 ? Place{16 * (g / 2 % 2), 4 * (g / 4) + 2 * (g % 2) + s}
                          : Place{16 * (g / 2), 2 * (g % 2) + s};
    if (c.k == 64)
        return wave == 32 ? Place{16 * (g / 8), 2 * (g % 8) + s}
                          : Place{16 * swapped(g / 4), 2 * (g % 4) + s};
    if (wave == 32 || bits == 4)
        return {16 * (g / 4), 2 * (g % 4) + s};
    return {16 * swapped(g / 2), 2 * (g % 2) + s};
}

// Element k of a column of B.
Place place_b(const Case &c, u32 wave, unsigned k) {
    if (bits_of(c.b) == 16)
        return wave == 32 ? Place{16 * (k / 8 % 2), 8 * (k / 16) + k % 8}
                          : Place{16 * (k / 8), k % 8};
    unsigned in_lane = c.k / (wave / 16), block = k / in_lane;
    return {16 * (wave == 32 ? block : swapped(block)), k % in_lane};
}

// The index of group g: its lane and first bit.
Place place_index(const Case &c, u32 wave, unsigned g) {
    if (bits_of(c.a) == 16)
        return wave == 32 ? Place{16 * (g / 2 % 2), 4 * (g % 2) + 8 * (g / 4)}
                          : Place{16 * (g / 2), 4 * (g % 2)};
    Place p = place_a(c, wave, g, 0);
    return {p.lane, 2 * p.element};
}

unsigned index_bits(const Case &c, u32 wave) {
    unsigned bits = c.k == 64 ? 32 : 16;
    return wave == 64 && !(c.k == 32 && bits_of(c.a) == 4) ? bits / 2 : bits;
}

struct Matrices {
    i32 a[16][32]; // stored
    unsigned k[16][32];
    i32 b[64][16], c[16][16];
};

Matrices random_matrices(const Case &c, unsigned seed) {
    std::mt19937 random(seed);
    auto small = [&] { return static_cast<i32>(random() % 7) - 3; };
    Matrices m;
    for (unsigned row = 0; row < 16; ++row)
        for (unsigned s = 0; s < c.k / 2; ++s) {
            m.a[row][s] = small();
            // All 16 patterns: in order, reversed, the same one twice.
            unsigned pattern = (row + 5 * (s / 2) + seed) % 16;
            m.k[row][s] = s / 2 * 4 + (s % 2 ? pattern >> 2 : pattern & 3);
        }
    for (auto &row : m.b)
        for (i32 &x : row)
            x = small();
    for (auto &row : m.c)
        for (i32 &x : row)
            x = small();
    return m;
}

unsigned row_of(u32 wave, unsigned lane, unsigned e) {
    return wave == 32 ? e + 8 * (lane / 16) : e + 8 * (lane / 16 % 2) + 4 * (lane / 32);
}

void put(std::vector<u32> &in, unsigned lane, unsigned first, unsigned bits, unsigned element,
         u32 code) {
    in[lane * 32 + first + element * bits / 32] |= code << element * bits % 32;
}

constexpr unsigned at_a = 0, at_b = 4, at_index = 12, at_c = 16; // dwords of a lane's 32

std::vector<u32> pack(const Case &c, u32 wave, unsigned key, const Matrices &m) {
    std::vector<u32> in(wave * 32);
    const unsigned bits = index_bits(c, wave);
    for (unsigned lane = 0; lane < wave && bits < 32; ++lane) // what another key would take
        in[lane * 32 + at_index] = ~(((1u << bits) - 1) << bits * key);
    for (unsigned row = 0; row < 16; ++row) {
        for (unsigned s = 0; s < c.k / 2; ++s) {
            Place p = place_a(c, wave, s / 2, s % 2);
            put(in, row + p.lane, at_a, bits_of(c.a), p.element, encode(c.a, m.a[row][s]));
        }
        for (unsigned g = 0; g < c.k / 4; ++g) {
            Place p = place_index(c, wave, g);
            u32 two = (m.k[row][2 * g] & 3) | (m.k[row][2 * g + 1] & 3) << 2;
            in[(row + p.lane) * 32 + at_index] |= two << (bits * key + p.element);
        }
        for (unsigned k = 0; k < c.k; ++k) {
            Place p = place_b(c, wave, k);
            put(in, row + p.lane, at_b, bits_of(c.b), p.element, encode(c.b, m.b[k][row]));
        }
    }
    for (unsigned lane = 0; lane < wave; ++lane)
        for (unsigned e = 0; e < 256 / wave; ++e)
            put(in, lane, at_c, bits_of(c.c), e,
                encode(c.c, m.c[row_of(wave, lane, e)][lane % 16]));
    return in;
}

std::vector<u32> multiply(const Case &c, u32 wave, const std::vector<u32> &in,
                          const std::string &modifiers) {
    auto range = [](unsigned first, unsigned bits, unsigned elements) {
        unsigned count = std::max(1u, bits * elements / 32);
        return count == 1 ? fmt::format("v{}", first)
                          : fmt::format("v[{}:{}]", first, first + count - 1);
    };
    KernelText k;
    k.gfx = "gfx1201";
    k.wave = wave;
    k.body = "  v_lshlrev_b32 v40, 7, v0\n";
    for (unsigned q = 0; q < 6; ++q)
        k.body += fmt::format("  global_load_b128 v[{}:{}], v40, s[2:3] offset:{}\n", 8 + 4 * q,
                              11 + 4 * q, 16 * q);
    k.body += "  s_wait_loadcnt 0\n  s_mov_b32 s8, exec_lo\n  s_mov_b32 exec_lo, 0\n"; // 2.54
    k.body += fmt::format("  {} {}, {}, {}, v{}{}\n  s_mov_b32 exec_lo, s8\n", c.name,
                          range(8 + at_c, bits_of(c.c), 256 / wave),
                          range(8 + at_a, bits_of(c.a), c.k / 2 * 16 / wave),
                          range(8 + at_b, bits_of(c.b), c.k * 16 / wave), 8 + at_index, modifiers);
    for (unsigned q = 0; q < 2; ++q)
        k.body += fmt::format("  global_store_b128 v40, v[{}:{}], s[2:3] offset:{}\n", 24 + 4 * q,
                              27 + 4 * q, 16 * q);
    Launch launch;
    launch.block = {wave, 1, 1};
    launch.initial = in;
    launch.words = wave * 32;
    return run(k, launch);
}

u32 result(const Case &c, const std::vector<u32> &out, unsigned lane, unsigned e) {
    unsigned bits = bits_of(c.c);
    return out[lane * 32 + e * bits / 32] >> e * bits % 32 & (bits == 16 ? 0xffff : ~0u);
}

void check(const Case &c, u32 wave, unsigned key) {
    const bool integers = c.c[0] == 'i';
    std::string modifiers = key ? fmt::format(" index_key:{}", key) : "";
    modifiers += integers ? " neg_lo:[1,1,0]" : "";
    Matrices m = random_matrices(c, wave + key);
    auto out = multiply(c, wave, pack(c, wave, key, m), modifiers);
    for (unsigned lane = 0; lane < wave; ++lane)
        for (unsigned e = 0; e < 256 / wave; ++e) {
            unsigned row = row_of(wave, lane, e);
            i32 want = m.c[row][lane % 16];
            for (unsigned s = 0; s < c.k / 2; ++s)
                want += m.a[row][s] * m.b[m.k[row][s]][lane % 16];
            INFO(c.name, modifiers, " wave", wave, " row ", row, " column ", lane % 16);
            REQUIRE(result(c, out, lane, e) == encode(c.c, want));
        }
}

const Case &find(const std::string &name) {
    for (const Case &c : cases)
        if (name == c.name)
            return c;
    throw std::runtime_error(name);
}

// Row 0 and column 0 only: these stored elements of A, and B by k.
u32 corner(const Case &c, const std::vector<std::pair<unsigned, u32>> &a,
           const std::vector<std::pair<unsigned, u32>> &b, u32 addend,
           const std::string &modifiers = "") {
    Matrices m{};
    for (unsigned s = 0; s < c.k / 2; ++s)
        for (auto &row : m.k)
            row[s] = s / 2 * 4 + s % 2;
    auto in = pack(c, 32, 0, m);
    for (auto [s, code] : a) {
        Place p = place_a(c, 32, s / 2, s % 2);
        put(in, p.lane, at_a, bits_of(c.a), p.element, code);
    }
    for (auto [k, code] : b) {
        Place p = place_b(c, 32, k);
        put(in, p.lane, at_b, bits_of(c.b), p.element, code);
    }
    in[at_c] = addend;
    return result(c, multiply(c, 32, in, modifiers), 0, 0);
}

} // namespace

TEST_CASE("sparse products of small integers are exact, for every index and key") {
    for (const Case &c : cases)
        for (u32 wave : {32u, 64u})
            for (unsigned key = 0; key * index_bits(c, wave) < 32; ++key)
                check(c, wave, key);
}

TEST_CASE("the ways of adding agree on small integers") {
    for (const char *list : {"swmmac_order=logical", "fp8_wmma=step4", "fp8_wmma=exact",
                             "fp8_wmma=chain,swmmac_order=logical"}) {
        ChoicesScope scope(list);
        for (const Case &c : cases)
            if (c.c[0] != 'i')
                check(c, 32, 0);
    }
}

TEST_CASE("SWMMAC's signs: of A's stored elements, and of what B's meet") {
    const Case &c = find("v_swmmac_f32_16x16x32_f16");
    const std::vector<std::pair<unsigned, u32>> a{{0, encode("f16", 1)}, {1, encode("f16", 16)}};
    const std::vector<std::pair<unsigned, u32>> b{{0, encode("f16", 2)}, {1, encode("f16", 2)}};
    auto sum = [&](const std::string &m) { return std::bit_cast<f32>(corner(c, a, b, 0, m)); };
    CHECK(sum("") == 34);
    CHECK(sum(" neg_lo:[1,0,0]") == 30);
    CHECK(sum(" neg_hi:[1,0,0]") == -30);
    CHECK(sum(" neg_lo:[0,1,0]") == 30);
    CHECK(sum(" neg_hi:[0,1,0]") == -30);
    CHECK(sum(" neg_lo:[1,1,0] neg_hi:[0,1,0]") == -30);
}

TEST_CASE("SWMMAC rounds once for four stored elements, or for four k") {
    // 1 + 2^-24 in the first group of four k, -1 in the second.
    const Case &c = find("v_swmmac_f32_16x16x32_f16");
    const std::vector<std::pair<unsigned, u32>> a{{0, 0x3c00}, {1, 0x0c00}, {2, 0xbc00}};
    const std::vector<std::pair<unsigned, u32>> b{{0, 0x3c00}, {1, 0x0c00}, {4, 0x3c00}};
    CHECK(corner(c, a, b, 0) == 0x33800000);
    ChoicesScope scope("swmmac_order=logical");
    CHECK(corner(c, a, b, 0) == 0);
}

TEST_CASE("integer SWMMAC wraps, or saturates after each half of the products") {
    const Case &c = find("v_swmmac_i32_16x16x32_iu8");
    // 100 * 100 among the first eight stored elements, its negative among the others.
    const std::vector<std::pair<unsigned, u32>> a{{0, 100}, {8, 156}}, b{{0, 100}, {16, 100}};
    const std::string is_signed = " neg_lo:[1,1,0]", clamp = is_signed + " clamp";
    CHECK(corner(c, a, b, 0x7fffffff, is_signed) == 0x7fffffff);
    CHECK(corner(c, a, b, 0x7fffffff, clamp) == 0x7fffffff - 10000);
    CHECK(corner(c, {{0, 100}}, b, 0x7fffffff, is_signed) == 0x7fffffffu + 10000);
    CHECK(corner(c, {{8, 100}}, b, 0x7fffffff, clamp) == 0x7fffffff);
    CHECK(corner(c, {{0, 156}}, b, 0x80000000, clamp) == 0x80000000);
    CHECK(corner(c, {{0, 156}}, b, 0) == 156 * 100);
    ChoicesScope scope("matrix_clamp=once");
    CHECK(corner(c, a, b, 0x7fffffff, clamp) == 0x7fffffff);
}

TEST_CASE("SWMMAC of FP8 takes NaN and infinity as v_dot4_f32_* does") {
    const Case &c = find("v_swmmac_f32_16x16x32_bf8_fp8");
    CHECK(corner(c, {{3, 0x7c}}, {{5, 0x38}}, 0) == 0x7f800000);
    CHECK(corner(c, {{3, 0x7c}}, {{5, 0x38}}, 0xff800000) == 0xffc00000);
    CHECK(corner(c, {{3, 0x7c}}, {}, 0) == 0xffc00000);
    CHECK(corner(c, {{3, 0x3c}}, {{6, 0x7f}}, 0) == 0); // that k isn't taken
    CHECK(corner(c, {{3, 0x3c}}, {{5, 0x7f}}, 0) == 0xffc00000);
}
