// SPDX-License-Identifier: MIT
#include "ref/gguf.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/error.h"
#include "base/half.h"
#include "formats/files/words.h"
#include "formats/gguf/gguf_blocks.h"

namespace nw::ref {

namespace {

// e2m1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives, twice.
constexpr i32 mxfp4_values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// A scale of nvfp4 in units of 2^-9: four bits of exponent, three of fraction. The sign's bit says
// nothing. e4m3's NaN, 0x7f, is 0 in ggml.
i32 ue4m3(u8 bits) {
    const i32 exponent = bits >> 3 & 15, fraction = bits & 7;
    if (bits == 0x7f)
        return 0;
    return exponent ? (8 + fraction) << (exponent - 1) : fraction;
}

// Element i of a block of 32: low nibbles are the first 16 elements.
u32 nibble(const u8 (&qs)[16], u32 i) { return qs[i % 16] >> i / 16 * 4 & 15u; }

GgufBlock block_of_32(f32 d) {
    GgufBlock out{32, false, d, 0, {}, {}, {}};
    std::ranges::fill(out.scale, 1);
    return out;
}

template <class Quant> GgufBlock block_of_32(f32 d, const Quant &quant) {
    GgufBlock out = block_of_32(d);
    for (u32 i = 0; i < 32; ++i)
        out.quant[i] = quant(i);
    return out;
}

// w = d * q + m
GgufBlock with_m(GgufBlock out, u16 m) {
    out.minima = true;
    out.dmin = -f16_to_f32(m);
    std::ranges::fill(out.least, 1);
    return out;
}

GgufBlock taken(const BlockQ4_0 &b) {
    return block_of_32(f16_to_f32(b.d),
                       [&](u32 i) { return static_cast<i32>(nibble(b.qs, i)) - 8; });
}

GgufBlock taken(const BlockQ4_1 &b) {
    const auto quant = [&](u32 i) { return static_cast<i32>(nibble(b.qs, i)); };
    return with_m(block_of_32(f16_to_f32(b.d), quant), b.m);
}

i32 five_bits(u32 four, u32 qh, u32 i) { return static_cast<i32>(four | (qh >> i & 1) << 4); }

GgufBlock taken(const BlockQ5_0 &b) {
    const u32 qh = b.qh;
    return block_of_32(f16_to_f32(b.d),
                       [&](u32 i) { return five_bits(nibble(b.qs, i), qh, i) - 16; });
}

GgufBlock taken(const BlockQ5_1 &b) {
    const u32 qh = b.qh;
    const auto quant = [&](u32 i) { return five_bits(nibble(b.qs, i), qh, i); };
    return with_m(block_of_32(f16_to_f32(b.d), quant), b.m);
}

GgufBlock taken(const BlockQ8_0 &b) {
    return block_of_32(f16_to_f32(b.d), [&](u32 i) { return i32{b.qs[i]}; });
}

GgufBlock taken(const BlockIQ4_NL &b) {
    return block_of_32(f16_to_f32(b.d), [&](u32 i) { return iq4_values[nibble(b.qs, i)]; });
}

GgufBlock taken(const BlockMXFP4 &b) {
    return block_of_32(std::ldexp(1.0f, i32{b.e} - 128),
                       [&](u32 i) { return mxfp4_values[nibble(b.qs, i)]; });
}

struct SubScale {
    u32 scale, min;
};

GgufBlock taken(const BlockNVFP4 &b) {
    GgufBlock out{16, false, 0x1p-10f, 0, {}, {}, {}};
    for (u32 j = 0; j < 4; ++j)
        out.scale[j] = ue4m3(b.d[j]);
    for (u32 i = 0; i < b.elements; ++i)
        out.quant[i] = mxfp4_values[b.qs[i / 16 * 8 + i % 8] >> i % 16 / 8 * 4 & 15];
    return out;
}

// q4_K and q5_K. The first four lie in the low 6 bits of bytes 0 to 3 (scale) and 4 to 7 (min). The
// last four have their low 4 bits in bytes 8 to 11, scale below min, and their high 2 bits in the
// high bits of the first eight bytes.
SubScale sub_scale(const u8 (&s)[12], u32 j) {
    if (j < 4)
        return {s[j] & 63u, s[j + 4] & 63u};
    return {(s[j + 4] & 15u) | (s[j - 4] >> 6 & 3u) << 4, (s[j + 4] >> 4 & 15u) | (s[j] >> 6 & 3u)
                                                                                      << 4};
}

// q3_K. The low 4 bits of scales 0 to 7 are the low nibbles of bytes 0 to 7, of 8 to 15 the high
// ones; the high 2 of scale j are at bit j / 4 * 2 of byte 8 + j % 4.
u32 sub_scale(const BlockQ3_K &b, u32 j) {
    return (b.scales[j % 8] >> j / 8 * 4 & 15u) | (b.scales[8 + j % 4] >> j / 4 * 2 & 3u) << 4;
}

template <class Block> GgufBlock with_minima(const Block &b) {
    GgufBlock out{32, true, f16_to_f32(b.d), f16_to_f32(b.dmin), {}, {}, {}};
    for (u32 j = 0; j < 8; ++j) {
        const SubScale s = sub_scale(b.scales, j);
        out.scale[j] = static_cast<i32>(s.scale), out.least[j] = static_cast<i32>(s.min);
    }
    for (u32 i = 0; i < Block::elements; ++i)
        out.quant[i] = b.qs[i / 64 * 32 + i % 32] >> i / 32 % 2 * 4 & 15;
    return out;
}

GgufBlock taken(const BlockQ4_K &b) { return with_minima(b); }

GgufBlock taken(const BlockQ5_K &b) {
    GgufBlock out = with_minima(b);
    for (u32 i = 0; i < b.elements; ++i)
        out.quant[i] |= (b.qh[i % 32] >> i / 32 & 1) << 4;
    return out;
}

// Two bits of element i of q2_K and q3_K: 32 elements at each of four places of 32 bytes.
i32 two_bits(const u8 (&qs)[64], u32 i) { return qs[i / 128 * 32 + i % 32] >> i / 32 % 4 * 2 & 3; }

GgufBlock taken(const BlockQ2_K &b) {
    GgufBlock out{16, true, f16_to_f32(b.d), f16_to_f32(b.dmin), {}, {}, {}};
    for (u32 j = 0; j < 16; ++j)
        out.scale[j] = b.scales[j] & 15, out.least[j] = b.scales[j] >> 4;
    for (u32 i = 0; i < b.elements; ++i)
        out.quant[i] = two_bits(b.qs, i);
    return out;
}

GgufBlock taken(const BlockQ3_K &b) {
    GgufBlock out{16, false, f16_to_f32(b.d), 0, {}, {}, {}};
    for (u32 j = 0; j < 16; ++j)
        out.scale[j] = static_cast<i32>(sub_scale(b, j)) - 32;
    for (u32 i = 0; i < b.elements; ++i)
        out.quant[i] = two_bits(b.qs, i) + (b.hmask[i % 32] >> i / 32 & 1) * 4 - 4;
    return out;
}

// Each half of the block has 64 bytes of ql, 32 of qh and four rows of 32 elements. Row r takes its
// low bits from ql[r % 2 * 32 + l], the low nibble for r < 2, and its high ones from bit 2 * r of
// qh[l].
GgufBlock taken(const BlockQ6_K &b) {
    GgufBlock out{16, false, f16_to_f32(b.d), 0, {}, {}, {}};
    std::ranges::copy(b.scales, out.scale);
    for (u32 i = 0; i < b.elements; ++i) {
        const u32 half = i / 128, r = i / 32 % 4, l = i % 32;
        const i32 low = b.ql[half * 64 + r % 2 * 32 + l] >> r / 2 * 4 & 15;
        const i32 high = b.qh[half * 32 + l] >> r * 2 & 3;
        out.quant[i] = (low | high << 4) - 32;
    }
    return out;
}

GgufBlock taken(const BlockIQ4_XS &b) {
    GgufBlock out{32, false, f16_to_f32(b.d), 0, {}, {}, {}};
    const u32 high = b.scales_h;
    for (u32 j = 0; j < 8; ++j) {
        const u32 low = b.scales_l[j / 2] >> j % 2 * 4 & 15u;
        out.scale[j] = static_cast<i32>(low | (high >> 2 * j & 3) << 4) - 32;
    }
    for (u32 i = 0; i < b.elements; ++i)
        out.quant[i] = iq4_values[b.qs[i / 32 * 16 + i % 16] >> i % 32 / 16 * 4 & 15];
    return out;
}

void dequantize(const GgufBlock &b, u32 elements, f32 *out) {
    for (u32 i = 0; i < elements; ++i) {
        const f32 scale = b.d * static_cast<f32>(b.scale[i / b.sub]);
        out[i] = scale * static_cast<f32>(b.quant[i]);
        if (b.minima) {
            const f32 min = b.dmin * static_cast<f32>(b.least[i / b.sub]);
            out[i] = out[i] - min;
        }
    }
}

} // namespace

GgufBlock gguf_block(GgmlType type, const std::byte *block) {
    switch (type) {
    case GgmlType::q4_0:
        return taken(load<BlockQ4_0>(block));
    case GgmlType::q4_1:
        return taken(load<BlockQ4_1>(block));
    case GgmlType::q5_0:
        return taken(load<BlockQ5_0>(block));
    case GgmlType::q5_1:
        return taken(load<BlockQ5_1>(block));
    case GgmlType::q8_0:
        return taken(load<BlockQ8_0>(block));
    case GgmlType::iq4_nl:
        return taken(load<BlockIQ4_NL>(block));
    case GgmlType::mxfp4:
        return taken(load<BlockMXFP4>(block));
    case GgmlType::nvfp4:
        return taken(load<BlockNVFP4>(block));
    case GgmlType::q2_K:
        return taken(load<BlockQ2_K>(block));
    case GgmlType::q3_K:
        return taken(load<BlockQ3_K>(block));
    case GgmlType::q4_K:
        return taken(load<BlockQ4_K>(block));
    case GgmlType::q5_K:
        return taken(load<BlockQ5_K>(block));
    case GgmlType::q6_K:
        return taken(load<BlockQ6_K>(block));
    case GgmlType::iq4_xs:
        return taken(load<BlockIQ4_XS>(block));
    case GgmlType::f32:
    case GgmlType::f16:
    case GgmlType::bf16:
        break;
    }
    const GgmlTypeInfo *info = find_ggml_type(type);
    throw Error(fmt::format("the ggml type {}{}: no formula for its blocks here",
                            static_cast<u32>(type), info ? fmt::format(" ({})", info->name) : ""));
}

void dequantize_row(GgmlType type, const std::byte *row, u64 k, f32 *out) {
    const GgmlTypeInfo *info = find_ggml_type(type);
    if (info && info->decoded && k % info->elements)
        throw Error(fmt::format("a row of {} {} elements: must be a multiple of {}, a block", k,
                                info->name, info->elements));
    for (u64 i = 0; type == GgmlType::f32 && i < k; ++i)
        out[i] = load<f32>(row, i);
    for (u64 i = 0; type == GgmlType::f16 && i < k; ++i)
        out[i] = f16_to_f32(load<u16>(row, i));
    for (u64 i = 0; type == GgmlType::bf16 && i < k; ++i)
        out[i] = bf16_to_f32(load<u16>(row, i));
    if (info && info->elements == 1 && info->decoded)
        return;
    if (!info || !info->decoded)
        gguf_block(type, nullptr); // throws: no formula
    for (u64 i = 0; i < k / info->elements; ++i)
        dequantize(gguf_block(type, row + i * info->bytes), info->elements,
                   out + i * info->elements);
}

} // namespace nw::ref
