// SPDX-License-Identifier: MIT
// ref::dequantize_row against each format's text, one element at a time: which bits it has, and
// which roundings.
#include <bit>
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/half.h"
#include "base/rng.h"
#include "formats/gguf/gguf_blocks.h"
#include "ref/gguf.h"

using namespace nw;

namespace {

using Row = std::vector<u8>;

// An f16's value by its fields, in f64, where it is exact.
f64 half_at(const Row &b, u64 at) {
    const u32 h = b[at] + 256u * b[at + 1];
    const u32 exponent = h / 1024 % 32, fraction = h % 1024;
    const f64 magnitude = exponent ? std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25)
                                   : std::ldexp(fraction, -24);
    return h / 32768 ? -magnitude : magnitude;
}

u32 bits_at(const Row &b, u64 bit, u32 count) { // from bit 0 of byte 0 up, within a byte
    return b[bit / 8] / (1u << bit % 8) % (1u << count);
}

// Products of an f16 and at most 13 bits are exact in f64: so one rounding is left to do.
f32 rounded(f64 exact) { return static_cast<f32>(exact); }

f32 q4_0(const Row &b, u32 i) {
    const u64 block = i / 32 * 18, byte = block + 2 + i % 16;
    const u32 q = bits_at(b, 8 * byte + (i % 32 < 16 ? 0 : 4), 4);
    return rounded(half_at(b, block) * (static_cast<f64>(q) - 8));
}

f32 q8_0(const Row &b, u32 i) {
    const u64 block = i / 32 * 34;
    const int q = b[block + 2 + i % 32];
    return rounded(half_at(b, block) * (q < 128 ? q : q - 256));
}

// Scales and minima of a q4_K block as one list of six bits: what each is made of.
u32 q4_K_scale(const Row &b, u64 block, u32 sub, bool minimum) {
    const u64 bytes = 8 * (block + 4); // in bits
    if (sub < 4)
        return bits_at(b, bytes + 8 * (sub + (minimum ? 4 : 0)), 6);
    const u32 low = bits_at(b, bytes + 8 * (8 + sub - 4) + (minimum ? 4 : 0), 4);
    const u32 high = bits_at(b, bytes + 8 * (sub - 4 + (minimum ? 4 : 0)) + 6, 2);
    return low + 16 * high;
}

f32 q4_K(const Row &b, u32 i) {
    const u64 block = i / 256 * 144;
    const u32 in = i % 256, sub = in / 32;
    const u64 byte = block + 16 + in / 64 * 32 + in % 32;
    const u32 q = bits_at(b, 8 * byte + (in % 64 < 32 ? 0 : 4), 4);
    const f32 scale = rounded(half_at(b, block) * q4_K_scale(b, block, sub, false));
    const f32 min = rounded(half_at(b, block + 2) * q4_K_scale(b, block, sub, true));
    const f32 product = rounded(static_cast<f64>(scale) * q);
    return rounded(static_cast<f64>(product) - min);
}

f32 q6_K(const Row &b, u32 i) {
    const u64 block = i / 256 * 210;
    const u32 in = i % 256, half = in / 128, place = in % 128;
    const u64 low = block + 64 * half + place % 64, high = block + 128 + 32 * half + place % 32;
    const u32 q = bits_at(b, 8 * low + (place < 64 ? 0 : 4), 4) +
                  16 * bits_at(b, 8 * high + 2 * (place / 32), 2);
    const int scale = b[block + 192 + in / 16];
    const f32 s = rounded(half_at(b, block + 208) * (scale < 128 ? scale : scale - 256));
    return rounded(static_cast<f64>(s) * (static_cast<f64>(q) - 32));
}

// Nibbles of 16 bytes from `byte` on: low ones first.
u32 nibble_at(const Row &b, u64 byte, u32 i) {
    return bits_at(b, 8 * (byte + i % 16) + (i % 32 < 16 ? 0 : 4), 4);
}

f32 q4_1(const Row &b, u32 i) {
    const u64 block = i / 32 * 20;
    const f32 product = rounded(half_at(b, block) * nibble_at(b, block + 4, i));
    return rounded(product + half_at(b, block + 2));
}

u32 five_bits(const Row &b, u64 qh, u64 qs, u32 i) {
    return nibble_at(b, qs, i) + 16 * bits_at(b, 8 * qh + i % 32, 1);
}

f32 q5_0(const Row &b, u32 i) {
    const u64 block = i / 32 * 22;
    return rounded(half_at(b, block) *
                   (static_cast<f64>(five_bits(b, block + 2, block + 6, i)) - 16));
}

f32 q5_1(const Row &b, u32 i) {
    const u64 block = i / 32 * 24;
    const f32 product = rounded(half_at(b, block) * five_bits(b, block + 4, block + 8, i));
    return rounded(product + half_at(b, block + 2));
}

constexpr int codebook[] = {-127, -104, -83, -65, -49, -35, -22, -10,
                            1,    13,   25,  38,  53,  69,  89,  113};

f32 iq4_nl(const Row &b, u32 i) {
    const u64 block = i / 32 * 18;
    return rounded(half_at(b, block) * codebook[nibble_at(b, block + 2, i)]);
}

f32 iq4_xs(const Row &b, u32 i) {
    const u64 block = i / 256 * 136;
    const u32 sub = i % 256 / 32;
    const u32 scale =
        bits_at(b, 8 * (block + 4) + 4 * sub, 4) + 16 * bits_at(b, 8 * (block + 2) + 2 * sub, 2);
    const f32 d = rounded(half_at(b, block) * (static_cast<f64>(scale) - 32));
    return rounded(f64{d} * codebook[nibble_at(b, block + 8 + 16 * sub, i)]);
}

// e2m1 by its fields, times a power of two.
f32 mxfp4(const Row &b, u32 i) {
    const u64 block = i / 32 * 17;
    const u32 n = nibble_at(b, block + 1, i), exponent = n / 2 % 4, fraction = n % 2;
    const f64 size =
        exponent ? std::ldexp(2 + fraction, static_cast<int>(exponent) - 2) : fraction / 2.0;
    // ggml has no -0 here.
    return rounded(std::ldexp(n > 8 ? -size : size, b[block] - 127));
}

// e4m3 by its fields without its sign, and e2m1. ggml has 0x7f, a NaN, as 0.
f32 nvfp4(const Row &b, u32 i) {
    const u64 block = i / 64 * 36;
    const u32 in = i % 64, d = b[block + in / 16], exponent = d / 8 % 16, fraction = d % 8;
    const f64 scale = d == 0x7f  ? 0
                      : exponent ? std::ldexp(8 + fraction, static_cast<int>(exponent) - 10)
                                 : std::ldexp(fraction, -9);
    const u32 n = bits_at(b, 8 * (block + 4 + in / 16 * 8 + in % 8) + in % 16 / 8 * 4, 4);
    constexpr f64 sizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    return rounded(scale * (n > 8 ? -sizes[n % 8] : sizes[n % 8]));
}

u32 two_bits(const Row &b, u64 qs, u32 in) {
    return bits_at(b, 8 * (qs + in / 128 * 32 + in % 32) + in % 128 / 32 * 2, 2);
}

f32 q2_K(const Row &b, u32 i) {
    const u64 block = i / 256 * 84;
    const u32 in = i % 256, q = two_bits(b, block + 16, in);
    const u64 scales = 8 * (block + in / 16);
    const f32 scale = rounded(half_at(b, block + 80) * bits_at(b, scales, 4));
    const f32 min = rounded(half_at(b, block + 82) * bits_at(b, scales + 4, 4));
    return rounded(f64{rounded(f64{scale} * q)} - min);
}

f32 q3_K(const Row &b, u32 i) {
    const u64 block = i / 256 * 110;
    const u32 in = i % 256, j = in / 16;
    const u32 q = two_bits(b, block + 32, in) + 4 * bits_at(b, 8 * (block + in % 32) + in / 32, 1);
    const u32 low = bits_at(b, 8 * (block + 96 + j % 8) + (j < 8 ? 0 : 4), 4);
    const u32 high = bits_at(b, 8 * (block + 104 + j % 4) + 2 * (j / 4), 2);
    const f32 scale = rounded(half_at(b, block + 108) * (static_cast<f64>(low + 16 * high) - 32));
    return rounded(f64{scale} * (static_cast<f64>(q) - 4));
}

f32 q5_K(const Row &b, u32 i) {
    const u64 block = i / 256 * 176;
    const u32 in = i % 256, sub = in / 32;
    const u64 byte = block + 48 + in / 64 * 32 + in % 32;
    const u32 q = bits_at(b, 8 * byte + (in % 64 < 32 ? 0 : 4), 4) +
                  16 * bits_at(b, 8 * (block + 16 + in % 32) + sub, 1);
    const f32 scale = rounded(half_at(b, block) * q4_K_scale(b, block, sub, false));
    const f32 min = rounded(half_at(b, block + 2) * q4_K_scale(b, block, sub, true));
    return rounded(f64{rounded(f64{scale} * q)} - min);
}

struct Format {
    GgmlType type;
    f32 (*element)(const Row &, u32);
};
constexpr Format formats[] = {
    {GgmlType::q4_0, q4_0},   {GgmlType::q4_1, q4_1},     {GgmlType::q5_0, q5_0},
    {GgmlType::q5_1, q5_1},   {GgmlType::q8_0, q8_0},     {GgmlType::q2_K, q2_K},
    {GgmlType::q3_K, q3_K},   {GgmlType::q4_K, q4_K},     {GgmlType::q5_K, q5_K},
    {GgmlType::q6_K, q6_K},   {GgmlType::iq4_nl, iq4_nl}, {GgmlType::iq4_xs, iq4_xs},
    {GgmlType::mxfp4, mxfp4}, {GgmlType::nvfp4, nvfp4}};

std::vector<f32> dequantized(GgmlType type, const Row &row, u64 k) {
    std::vector<f32> out(k + 1, 12345);
    // One byte further: rows lie at any alignment.
    std::vector<std::byte> moved(row.size() + 1);
    std::memcpy(moved.data() + 1, row.data(), row.size());
    ref::dequantize_row(type, moved.data() + 1, k, out.data());
    REQUIRE(out[k] == 12345);
    out.pop_back();
    return out;
}

void set_half(Row &row, u64 at, u16 bits) {
    row[at] = static_cast<u8>(bits);
    row[at + 1] = static_cast<u8>(bits >> 8);
}

} // namespace

TEST_CASE("random rows, every element, every bit") {
    for (const Format &format : formats) {
        const GgmlTypeInfo &type = *find_ggml_type(format.type);
        CAPTURE(type.name);
        Rng rng(33);
        for (u32 round = 0; round < 400; ++round) {
            Row row(3 * type.bytes);
            for (u8 &b : row)
                b = static_cast<u8>(rng.next());
            // Scales are finite: their exponent is not all ones.
            for (u32 block = 0; block < 3; ++block)
                for (u64 half = 0; half < type.halves; ++half)
                    row[block * type.bytes + type.halves_at + 2 * half + 1] &= 0xfb;
            const std::vector<f32> got = dequantized(format.type, row, 3 * type.elements);
            u32 wrong = 0;
            for (u32 i = 0; i < got.size(); ++i)
                wrong += std::bit_cast<u32>(got[i]) != std::bit_cast<u32>(format.element(row, i));
            REQUIRE(wrong == 0);
        }
    }
}

TEST_CASE("q4_0 by hand") {
    Row row(18);
    set_half(row, 0, f32_to_f16(0.5f));
    row[2] = 0xf0;  // elements 0 and 16
    row[17] = 0x8b; // elements 15 and 31
    const auto w = dequantized(GgmlType::q4_0, row, 32);
    CHECK(w[0] == -4.0f);
    CHECK(w[16] == 3.5f);
    CHECK(w[15] == 1.5f);
    CHECK(w[31] == 0.0f);
    CHECK(w[1] == -4.0f);
}

TEST_CASE("q8_0 by hand") {
    Row row(34);
    set_half(row, 0, f32_to_f16(-0.25f));
    row[2] = 127, row[3] = 0x80, row[33] = 0xff;
    const auto w = dequantized(GgmlType::q8_0, row, 32);
    CHECK(w[0] == -31.75f);
    CHECK(w[1] == 32.0f);
    CHECK(w[31] == 0.25f);
    CHECK(w[2] == 0.0f);
}

TEST_CASE("q4_K by hand") {
    Row row(144);
    set_half(row, 0, f32_to_f16(2.0f));
    set_half(row, 2, f32_to_f16(0.5f));
    row[4 + 1] = 0x80 | 3;    // scale of sub-block 1 is 3; high bits 2 for the scale of 5
    row[4 + 5] = 0x40 | 5;    // min of sub-block 1 is 5; high bits 1 for the min of 5
    row[4 + 9] = 0xa7;        // sub-block 5: scale 7 + 32, min 10 + 16
    row[16] = 0x9c;           // elements 0 (sub-block 0: scale 0) and 32 (sub-block 1)
    row[16 + 64 + 31] = 0x40; // elements 128 + 31 (sub-block 4) and 160 + 31 (sub-block 5)
    const auto w = dequantized(GgmlType::q4_K, row, 256);
    CHECK(w[0] == 0.0f);
    CHECK(w[32] == 2 * 3 * 9 - 2.5f);
    CHECK(w[33] == -2.5f);
    CHECK(w[191] == 2 * 39 * 4 - 13.0f);
    CHECK(w[190] == -13.0f);
    CHECK(w[159] == 0.0f);
    CHECK(w[255] == 0.0f);
}

TEST_CASE("q6_K by hand") {
    Row row(210);
    set_half(row, 208, f32_to_f16(0.5f));
    row[192] = 2;         // elements 0 to 15
    row[192 + 15] = 0xff; // elements 240 to 255: -1
    row[0] = 0x0f;        // element 0: low bits 15
    row[128] = 0x03;      // element 0: high bits 3
    row[127] = 0x40;      // element 255: low bits 4
    row[191] = 0x80;      // element 255: high bits 2
    const auto w = dequantized(GgmlType::q6_K, row, 256);
    CHECK(w[0] == 31.0f);
    CHECK(w[1] == -32.0f);
    CHECK(w[16] == 0.0f);
    CHECK(w[255] == -0.5f * 4);
    CHECK(w[254] == 16.0f);
}

TEST_CASE("mxfp4: every scale, every number") {
    for (u32 e = 0; e < 256; ++e) {
        Row row(17);
        row[0] = static_cast<u8>(e);
        for (u32 n = 0; n < 16; ++n)
            row[1 + n] = static_cast<u8>(n);
        const auto w = dequantized(GgmlType::mxfp4, row, 32);
        constexpr f32 numbers[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
        for (u32 n = 0; n < 16; ++n) // 255, OCP's NaN, is 2^128, as in ggml
            CHECK(w[n] == static_cast<f32>(std::ldexp(f64{numbers[n % 8]} * (n < 8 ? 1 : -1),
                                                      static_cast<int>(e) - 127)));
    }
}

// OCP's table of e4m3: 2^-9 to 448, and no infinity. ggml leaves the sign out, and has a number at
// 0xff but 0 at 0x7f.
TEST_CASE("nvfp4: every scale, every number") {
    for (u32 d = 0; d < 256; ++d) {
        Row row(36);
        for (u32 j = 0; j < 4; ++j)
            row[j] = static_cast<u8>(j == 2 ? d : 0x38); // else 1
        for (u32 i = 0; i < 8; ++i)
            row[4 + 16 + i] = static_cast<u8>(i | (i + 8) << 4);
        const auto w = dequantized(GgmlType::nvfp4, row, 64);
        const u32 size = d & 0x7f;
        const f64 scale = d == 0x7f  ? 0
                          : size < 8 ? size * 0x1p-9
                                     : (1 + size % 8 / 8.0) * std::exp2(size / 8 - 7.0);
        constexpr f64 numbers[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
        for (u32 n = 0; n < 16; ++n)
            CHECK(w[32 + n] == static_cast<f32>(scale * numbers[n % 8] * (n < 8 ? 1 : -1)));
        CHECK(w[0] == 0);
    }
    const auto scale_of = [](u8 d) {
        Row row(36);
        row[0] = d, row[4] = 2; // 1
        return dequantized(GgmlType::nvfp4, row, 64)[0];
    };
    CHECK(scale_of(0x01) == 0x1p-9f);
    CHECK(scale_of(0x08) == 0x1p-6f);
    CHECK(scale_of(0x38) == 1);
    CHECK(scale_of(0x7e) == 448);
    CHECK(scale_of(0x7f) == 0);
    CHECK(scale_of(0xff) == 480);
}

TEST_CASE("q4_K rounds once, the difference") {
    Row row(144);
    set_half(row, 0, 0x7bff); // 65504
    set_half(row, 2, 0x0001); // 2^-24
    row[4] = 63, row[8] = 63; // of sub-block 0
    row[16] = 0x0f;           // element 0
    const f64 exact = 65504.0 * 63 * 15 - 63 * std::ldexp(1, -24);
    CHECK(dequantized(GgmlType::q4_K, row, 256)[0] == static_cast<f32>(exact));
    CHECK(static_cast<f64>(static_cast<f32>(exact)) != exact);
}

TEST_CASE("f16, bf16 and f32") {
    const Row row = {0x00, 0x3c, 0x00, 0x80, 0x01, 0x00, 0x00, 0x7c};
    const auto h = dequantized(GgmlType::f16, row, 4);
    CHECK(h[0] == 1.0f);
    CHECK(std::signbit(h[1]));
    CHECK(h[2] == std::ldexp(1.0f, -24));
    CHECK(h[3] == std::numeric_limits<f32>::infinity());
    const auto b = dequantized(GgmlType::bf16, row, 4);
    CHECK(std::bit_cast<u32>(b[0]) == 0x3c000000);
    CHECK(std::bit_cast<u32>(b[3]) == 0x7c000000);
    const auto f = dequantized(GgmlType::f32, row, 2);
    CHECK(std::bit_cast<u32>(f[0]) == 0x80003c00);
}

TEST_CASE("what has no formula, or no whole blocks") {
    std::byte row[300]{};
    f32 out[300];
    const auto refused = [&](GgmlType type, u64 k, const char *words) {
        CHECK_THROWS_WITH_AS(ref::dequantize_row(type, row, k, out), doctest::Contains(words),
                             Error);
    };
    refused(GgmlType::q4_K, 255, "a row of 255 q4_K elements: must be a multiple of 256");
    refused(GgmlType::q4_0, 33, "a row of 33 q4_0 elements: must be a multiple of 32");
    refused(static_cast<GgmlType>(15), 256, "type 15 (q8_K): no formula");
    refused(static_cast<GgmlType>(4), 32, "type 4: no formula");
    for (const GgmlTypeInfo &type : ggml_types())
        if (type.decoded)
            for (u64 k : {u64{0}, u64{type.elements}})
                CHECK_NOTHROW(
                    ref::dequantize_row(type.id, k ? row : nullptr, k, k ? out : nullptr));
        else
            CHECK_THROWS_AS(ref::dequantize_row(type.id, row, type.elements, out), Error);
}
