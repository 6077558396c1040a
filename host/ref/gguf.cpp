// SPDX-License-Identifier: MIT
#include "ref/gguf.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/half.h"
#include "formats/gguf_blocks.h"
#include "formats/words.h"

namespace nw::ref {

namespace {

void dequantize(const BlockQ4_0 &b, f32 *out) {
    const f32 d = f16_to_f32(b.d);
    for (u32 i = 0; i < 16; ++i) {
        out[i] = d * static_cast<f32>((b.qs[i] & 15) - 8);
        out[i + 16] = d * static_cast<f32>((b.qs[i] >> 4) - 8);
    }
}

void dequantize(const BlockQ8_0 &b, f32 *out) {
    const f32 d = f16_to_f32(b.d);
    for (u32 i = 0; i < b.elements; ++i)
        out[i] = d * b.qs[i];
}

void dequantize(const BlockQ4_K &b, f32 *out) {
    const f32 d = f16_to_f32(b.d), dmin = f16_to_f32(b.dmin);
    for (u32 j = 0; j < 8; ++j) {
        const SubScale s = sub_scale(b, j);
        const f32 scale = d * static_cast<f32>(s.scale), min = dmin * static_cast<f32>(s.min);
        for (u32 i = 0; i < 32; ++i) {
            const u32 q = b.qs[j / 2 * 32 + i] >> j % 2 * 4 & 15;
            const f32 product = scale * static_cast<f32>(q);
            out[j * 32 + i] = product - min;
        }
    }
}

// Each half of the block has 64 bytes of ql, 32 of qh and four rows of 32 elements. Row r takes its
// low bits from ql[r % 2 * 32 + l], the low nibble for r < 2, and its high ones from bit 2 * r of
// qh[l].
void dequantize(const BlockQ6_K &b, f32 *out) {
    const f32 d = f16_to_f32(b.d);
    for (u32 i = 0; i < b.elements; ++i) {
        const u32 half = i / 128, r = i / 32 % 4, l = i % 32;
        const u32 low = b.ql[half * 64 + r % 2 * 32 + l] >> r / 2 * 4 & 15;
        const u32 high = b.qh[half * 32 + l] >> r * 2 & 3;
        const f32 scale = d * b.scales[i / 16];
        out[i] = scale * static_cast<f32>(static_cast<i32>(low | high << 4) - 32);
    }
}

template <class Block> void blocks(const std::byte *row, u64 k, f32 *out) {
    for (u64 i = 0; i < k / Block::elements; ++i)
        dequantize(load<Block>(row, i), out + i * Block::elements);
}

} // namespace

// The first four lie in the low 6 bits of bytes 0 to 3 (scale) and 4 to 7 (min). Of the last four
// bytes 8 to 11 hold the low 4 bits, scale below min; the high 2 bits are what the first eight
// bytes have left.
SubScale sub_scale(const BlockQ4_K &b, u32 j) {
    const u8(&s)[12] = b.scales;
    if (j < 4)
        return {s[j] & 63u, s[j + 4] & 63u};
    return {(s[j + 4] & 15u) | (s[j - 4] >> 6 & 3u) << 4, (s[j + 4] >> 4 & 15u) | (s[j] >> 6 & 3u)
                                                                                      << 4};
}

void dequantize_row(GgmlType type, const std::byte *row, u64 k, f32 *out) {
    const GgmlTypeInfo *info = find_ggml_type(type);
    if (info && info->decoded && k % info->elements)
        throw Error(fmt::format("a row of {} {} elements: must be a multiple of {}, a block", k,
                                info->name, info->elements));
    switch (type) {
    case GgmlType::f32:
        for (u64 i = 0; i < k; ++i)
            out[i] = load<f32>(row, i);
        return;
    case GgmlType::f16:
        for (u64 i = 0; i < k; ++i)
            out[i] = f16_to_f32(load<u16>(row, i));
        return;
    case GgmlType::bf16:
        for (u64 i = 0; i < k; ++i)
            out[i] = bf16_to_f32(load<u16>(row, i));
        return;
    case GgmlType::q4_0:
        return blocks<BlockQ4_0>(row, k, out);
    case GgmlType::q8_0:
        return blocks<BlockQ8_0>(row, k, out);
    case GgmlType::q4_K:
        return blocks<BlockQ4_K>(row, k, out);
    case GgmlType::q6_K:
        return blocks<BlockQ6_K>(row, k, out);
    }
    throw Error(fmt::format("the ggml type {}{}: no formula for it here, only for f32, f16, bf16, "
                            "q4_0, q8_0, q4_K, q6_K",
                            static_cast<u32>(type), info ? fmt::format(" ({})", info->name) : ""));
}

} // namespace nw::ref
