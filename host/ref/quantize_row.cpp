// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/half.h"
#include "formats/gguf/gguf_blocks.h"
#include "ref/gguf.h"
#include "ref/rows.h"

namespace nw::ref {

namespace {

using Block = std::span<const f32, 32>;

// The first value with the greatest magnitude; 0 of zeros.
f32 peak(Block x) {
    f32 out = 0;
    for (const f32 v : x)
        if (std::fabs(v) > std::fabs(out))
            out = v;
    return out;
}

f32 inverse(f32 d) { return d == 0 ? 0 : 1 / d; }

// Cut off to an integer of [0, most].
u32 cut(f32 v, u32 most) {
    return v > 0 ? static_cast<u32>(std::min(v, static_cast<f32>(most))) : 0;
}

// Low nibbles have the first 16 quants.
void put_nibbles(const u32 (&quants)[32], u8 (&qs)[16]) {
    for (u32 i = 0; i < 16; ++i)
        qs[i] = static_cast<u8>((quants[i] & 15) | (quants[i + 16] & 15) << 4);
}

u32 fifth_bits(const u32 (&quants)[32]) {
    u32 out = 0;
    for (u32 i = 0; i < 32; ++i)
        out |= (quants[i] >> 4 & 1) << i;
    return out;
}

// Quants of `most` / 2 + x / d, where d takes the peak to quant 0.
f32 around_middle(Block x, u32 most, u32 (&quants)[32]) {
    const f32 half = static_cast<f32>((most + 1) / 2), d = peak(x) / -half, id = inverse(d);
    for (u32 i = 0; i < 32; ++i) {
        const f32 scaled = x[i] * id;
        quants[i] = cut(scaled + (half + 0.5f), most);
    }
    return d;
}

struct Range {
    f32 d, least;
};

Range from_least(Block x, u32 most, u32 (&quants)[32]) {
    const f32 least = *std::ranges::min_element(x) + 0.0f, greatest = *std::ranges::max_element(x);
    const f32 d = (greatest - least) / static_cast<f32>(most), id = inverse(d);
    for (u32 i = 0; i < 32; ++i) {
        const f32 scaled = (x[i] - least) * id;
        quants[i] = cut(scaled + 0.5f, most);
    }
    return {d, least};
}

void put(Block x, BlockQ4_0 &b) {
    u32 quants[32];
    b.d = f32_to_f16(around_middle(x, 15, quants));
    put_nibbles(quants, b.qs);
}

void put(Block x, BlockQ5_0 &b) {
    u32 quants[32];
    b.d = f32_to_f16(around_middle(x, 31, quants));
    put_nibbles(quants, b.qs);
    b.qh = fifth_bits(quants);
}

void put(Block x, BlockQ4_1 &b) {
    u32 quants[32];
    const Range r = from_least(x, 15, quants);
    b.d = f32_to_f16(r.d), b.m = f32_to_f16(r.least);
    put_nibbles(quants, b.qs);
}

void put(Block x, BlockQ5_1 &b) {
    u32 quants[32];
    const Range r = from_least(x, 31, quants);
    b.d = f32_to_f16(r.d), b.m = f32_to_f16(r.least);
    put_nibbles(quants, b.qs);
    b.qh = fifth_bits(quants);
}

void put(Block x, BlockQ8_0 &b) {
    const f32 d = std::fabs(peak(x)) / 127, id = inverse(d);
    b.d = f32_to_f16(d);
    for (u32 i = 0; i < 32; ++i)
        b.qs[i] = static_cast<i8>(std::clamp(std::round(x[i] * id), -127.0f, 127.0f));
}

// Index of the nearest value; of two the upper one.
u32 nearest(f32 v) {
    u32 out = 0;
    for (u32 i = 1; i < 16; ++i)
        if (v - static_cast<f32>(iq4_values[i - 1]) >= static_cast<f32>(iq4_values[i]) - v)
            out = i;
    return out;
}

// The scale is that of the least squares with weights x^2.
void put(Block x, BlockIQ4_NL &b) {
    const f32 id = inverse(peak(x) / -127);
    u32 quants[32];
    f32 products = 0, squares = 0;
    for (u32 i = 0; i < 32; ++i) {
        quants[i] = nearest(id * x[i]);
        const f32 q = static_cast<f32>(iq4_values[quants[i]]), weight = x[i] * x[i];
        products += weight * q * x[i];
        squares += weight * q * q;
    }
    const bool none = std::fabs(peak(x)) < 1e-15f || !(squares > 0);
    b.d = f32_to_f16(none ? 0 : products / squares);
    put_nibbles(quants, b.qs);
}

template <class Quants> void quantize(std::span<const f32> x, std::byte *out) {
    for (u64 i = 0; i < x.size(); i += 32) {
        Quants block{};
        put(x.subspan(i).first<32>(), block);
        std::memcpy(out + i / 32 * sizeof block, &block, sizeof block);
    }
}

} // namespace

void quantize_row(GgmlType type, std::span<const f32> x, std::byte *out) {
    const auto words = [&](auto narrow) {
        for (u64 i = 0; i < x.size(); ++i) {
            const u16 word = narrow(x[i]);
            std::memcpy(out + 2 * i, &word, 2);
        }
    };
    switch (type) {
    case GgmlType::f32:
        std::memcpy(out, x.data(), x.size_bytes());
        return;
    case GgmlType::f16:
        return words(f32_to_f16);
    case GgmlType::bf16:
        return words(f32_to_bf16);
    case GgmlType::q4_0:
        return quantize<BlockQ4_0>(x, out);
    case GgmlType::q4_1:
        return quantize<BlockQ4_1>(x, out);
    case GgmlType::q5_0:
        return quantize<BlockQ5_0>(x, out);
    case GgmlType::q5_1:
        return quantize<BlockQ5_1>(x, out);
    case GgmlType::q8_0:
        return quantize<BlockQ8_0>(x, out);
    case GgmlType::iq4_nl:
        return quantize<BlockIQ4_NL>(x, out);
    default:
        throw Error("rows are quantized to q4_0, q4_1, q5_0, q5_1, q8_0 and iq4_nl alone");
    }
}

} // namespace nw::ref
