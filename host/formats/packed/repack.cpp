// SPDX-License-Identifier: MIT
#include "formats/packed/repack.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "base/error.h"
#include "formats/files/words.h"
#include "formats/layers/source_hqq.h"
#include "formats/packed/row_layout.h"

namespace nw {

namespace {

constexpr u32 tile_words = 16; // dwords of a row, a cache line

// A tile of dwords: line j holds dword j of each row of a block, columns in any order.
using Tile = u32[tile_words][repack_rows];

// Nibbles 0 1 2 3 4 5 6 7 to 0 2 4 6 1 3 5 7: swaps the middle two of each four nibbles, then the
// middle byte pairs.
inline u32 to_kernel_order(u32 x) {
    u32 t = (x ^ x >> 4) & 0x00f000f0;
    x ^= t ^ t << 4;
    t = (x ^ x >> 8) & 0x0000ff00;
    return x ^ t ^ t << 8;
}

// The inverse.
inline u32 to_counting_order(u32 x) {
    u32 t = (x ^ x >> 8) & 0x0000ff00;
    x ^= t ^ t << 8;
    t = (x ^ x >> 4) & 0x00f000f0;
    return x ^ t ^ t << 4;
}

// Transposes: in[i] nibble j becomes in[j] nibble i, for each column. Swaps halves, then quarters,
// then nibbles.
void transpose_nibbles(u32 (&in)[8][repack_rows / 8], u32 columns) {
    for (u32 i = 0; i < 4; ++i)
        for (u32 c = 0; c < columns; ++c) {
            const u32 a = in[i][c], b = in[i + 4][c];
            in[i][c] = (a & 0x0000ffff) | b << 16;
            in[i + 4][c] = a >> 16 | (b & 0xffff0000);
        }
    for (u32 i : {0, 1, 4, 5})
        for (u32 c = 0; c < columns; ++c) {
            const u32 a = in[i][c], b = in[i + 2][c];
            in[i][c] = (a & 0x00ff00ff) | (b & 0x00ff00ff) << 8;
            in[i + 2][c] = (a >> 8 & 0x00ff00ff) | (b & 0xff00ff00);
        }
    for (u32 i : {0, 2, 4, 6})
        for (u32 c = 0; c < columns; ++c) {
            const u32 a = in[i][c], b = in[i + 1][c];
            in[i][c] = (a & 0x0f0f0f0f) | (b & 0x0f0f0f0f) << 4;
            in[i + 1][c] = (a >> 4 & 0x0f0f0f0f) | (b & 0xf0f0f0f0);
        }
}

// Lines of the tile to rows of the output; column(row) is a row's column in the tile.
template <class Column>
void store(const Tile &tile, u32 words, u32 rows, const Column &column, std::byte *out,
           u64 stride) {
    for (u32 row = 0; row < rows; ++row) {
        const u32 from = column(row);
        u32 line[tile_words];
        for (u32 j = 0; j < tile_words; ++j)
            line[j] = tile[j][from];
        if (words == tile_words) // compile-time size: kept in registers
            std::memcpy(out + row * stride, line, sizeof line);
        else
            std::memcpy(out + row * stride, line, words * sizeof(u32));
    }
}

const std::byte *word_at(std::span<const std::byte> bytes, u64 index) {
    return bytes.data() + index * sizeof(u32);
}

// A tile's lines are far apart: the hardware prefetcher doesn't predict them.
void ask_for(const std::byte *line, u64 bytes) {
    constexpr u64 cache_line = 64;
    for (u64 at = 0; at < bytes; at += cache_line)
        __builtin_prefetch(line + at);
}

void gptq_weights(const SourceLinear &l, u32 first, u32 rows, std::byte *out, u64 stride) {
    alignas(64) Tile tile{};
    for (u32 word = 0; word < l.k / 8; word += tile_words) {
        const u32 words = std::min(tile_words, l.k / 8 - word);
        for (u32 j = 0; j < words; ++j) {
            const std::byte *line = word_at(l.weights, u64{word + j} * l.n + first);
            if (word + j + tile_words < l.k / 8)
                ask_for(line + u64{tile_words} * l.n * sizeof(u32), rows * sizeof(u32));
            std::memcpy(tile[j], line, rows * sizeof(u32));
            for (u32 &x : tile[j])
                x = to_kernel_order(x);
        }
        store(
            tile, words, rows, [](u32 row) { return row; }, out + word * sizeof(u32), stride);
    }
}

void awq_weights(const SourceLinear &l, u32 first, u32 rows, std::byte *out, u64 stride) {
    constexpr u32 most = repack_rows / 8;
    alignas(64) Tile tile{};
    alignas(64) u32 eight[8][most]{};
    const u32 columns = rows / 8;
    for (u32 word = 0; word < l.k / 8; word += tile_words) {
        const u32 words = std::min(tile_words, l.k / 8 - word);
        for (u32 j = 0; j < words; ++j) {
            for (u32 i = 0; i < 8; ++i) {
                const u64 k = u64{8} * (word + j) + nibble_order[i];
                const std::byte *line = word_at(l.weights, k * (l.n / 8) + first / 8);
                if (word + j + tile_words < l.k / 8)
                    ask_for(line + u64{tile_words} * l.n * sizeof(u32), columns * sizeof(u32));
                std::memcpy(eight[i], line, columns * sizeof(u32));
            }
            transpose_nibbles(eight, most);
            for (u32 i = 0; i < 8; ++i) // nibble i of AWQ's dwords is row 8c + nibble_order[i]
                std::memcpy(tile[j] + nibble_order[i] * most, eight[i], sizeof eight[i]);
        }
        store(
            tile, words, rows, [](u32 row) { return row % 8 * most + row / 8; },
            out + word * sizeof(u32), stride);
    }
}

void row_weights(const SourceLinear &l, u32 first, u32 rows, std::byte *out, u64 stride) {
    const u32 words = l.k / 8;
    constexpr u32 step = 256;
    u32 part[step];
    for (u32 row = 0; row < rows; ++row)
        for (u32 word = 0; word < words; word += step) {
            const u32 count = std::min(step, words - word);
            std::memcpy(part, word_at(l.weights, u64{first + row} * words + word),
                        count * sizeof(u32));
            for (u32 i = 0; i < count; ++i)
                part[i] = to_kernel_order(part[i]);
            std::memcpy(out + row * stride + word * sizeof(u32), part, count * sizeof(u32));
        }
}

void reorder(std::span<const u32> order, u32 rows, std::byte *out, u64 stride) {
    std::vector<u32> words(order.size() / 8);
    std::vector<u8> from(order.size()), to(order.size());
    for (u32 row = 0; row < rows; ++row) {
        std::memcpy(words.data(), out + row * stride, words.size() * sizeof(u32));
        unpack_row(words, from);
        for (size_t j = 0; j < order.size(); ++j)
            to[j] = from[order[j]];
        pack_row(to, words);
        std::memcpy(out + row * stride, words.data(), words.size() * sizeof(u32));
    }
}

// A number of the file, converted to the dtype's bits.
u16 converted(const SourceLinear &l, const char *what, std::string_view from,
              std::span<const std::byte> bytes, u64 index, Dtype to) {
    const f32 value = load_real(from, bytes, index);
    const u16 bits = round_to(to, value);
    if (!std::isfinite(value))
        throw Error(fmt::format(
            "{}: {} {} of {} is {}: must be finite; the file is damaged or badly quantized", l.name,
            what, index, l.tensor, value));
    if (!std::isfinite(to_f32(to, bits)))
        throw Error(fmt::format("{}: {} {} of {} is {}, above the range of {}; choose --dtype bf16",
                                l.name, what, index, l.tensor, value, name(to)));
    return bits;
}

// 16-bit scales, in file order.
bool all_finite(const SourceLinear &l, u32 first, u32 rows) {
    const u16 exponent = l.scale_dtype == "BF16" ? Bf16::infinity : F16::infinity;
    const u32 lines = l.by_row() ? 1 : l.stored_groups();
    const u64 count = l.by_row() ? u64{rows} * l.stored_groups() : rows;
    u32 bad = 0;
    for (u32 line = 0; line < lines; ++line) {
        const u64 begin = l.by_row() ? u64{first} * l.stored_groups() : u64{line} * l.n + first;
        for (u64 i = 0; i < count; ++i)
            bad |= (load<u16>(l.scales, begin + i) & exponent) == exponent;
    }
    return !bad;
}

} // namespace

void repack_weights(const SourceLinear &l, u32 first, u32 rows, std::span<const u32> order,
                    std::byte *out, u64 stride) {
    switch (l.format) {
    case SourceFormat::gptq_v1:
    case SourceFormat::gptq_v2:
        gptq_weights(l, first, rows, out, stride);
        break;
    case SourceFormat::awq_gemm:
        awq_weights(l, first, rows, out, stride);
        break;
    case SourceFormat::compressed_tensors:
        row_weights(l, first, rows, out, stride);
        break;
    case SourceFormat::hqq:
        hqq_weights(l, first, rows, out, stride);
        break;
    }
    if (!order.empty())
        reorder(order, rows, out, stride);
}

void repack_scales(const SourceLinear &l, u32 first, u32 rows, Dtype dtype, u16 *out) {
    const bool by_row = l.by_row();
    const u32 groups = l.groups(), stored = l.stored_groups();
    const auto source = [&](u32 row, u32 group) {
        const u32 g = l.stored_group(group);
        return by_row ? u64{first + row} * stored + g : u64{g} * l.n + first + row;
    };
    if (l.scale_dtype == (dtype == Dtype::bf16 ? "BF16" : "F16") && all_finite(l, first, rows)) {
        for (u32 row = 0; row < rows; ++row)
            for (u32 g = 0; g < groups; ++g)
                out[u64{row} * groups + g] = load<u16>(l.scales, source(row, g));
        return;
    }
    for (u32 row = 0; row < rows; ++row)
        for (u32 g = 0; g < groups; ++g)
            out[u64{row} * groups + g] =
                converted(l, "scale", l.scale_dtype, l.scales, source(row, g), dtype);
}

void repack_zeros(const SourceLinear &l, u32 first, u32 rows, u32 *out) {
    if (l.format == SourceFormat::hqq)
        return hqq_zeros(l, first, rows, out);
    const bool by_row = l.by_row();
    const u32 groups = l.groups(), stored = l.stored_groups(), words = ceil_div(rows, 8u);
    for (u32 w = 0; w < words; ++w) {
        const u64 word = first / 8 + w;
        const u32 used = std::min(8u, rows - 8 * w);
        const u32 mask = used == 8 ? ~0u : (1u << 4 * used) - 1;
        for (u32 group = 0; group < groups; ++group) {
            const u32 g = l.stored_group(group);
            u32 x = 0x88888888; // a symmetric linear among others
            if (!l.zeros.empty())
                x = load<u32>(l.zeros, by_row ? word * stored + g : u64{g} * l.zero_words() + word);
            if (l.format == SourceFormat::awq_gemm)
                x = to_counting_order(x);
            if (l.format == SourceFormat::gptq_v1)
                x = (x & mask) + 0x11111111; // find_linears has checked that no nibble is 15
            out[u64{w} * groups + group] = x & mask;
        }
    }
}

void repack_bias(const SourceLinear &l, Dtype dtype, u16 *out) {
    for (u32 n = 0; n < l.n; ++n)
        out[n] = converted(l, "bias", l.bias_dtype, l.bias, n, dtype);
}

std::vector<u32> group_order(const SourceLinear &l) {
    std::vector<u32> order(l.k);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](u32 k) { return l.group_of[k]; });
    return order;
}

} // namespace nw
