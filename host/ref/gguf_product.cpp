// SPDX-License-Identifier: MIT
#include "ref/gguf_product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "formats/files/words.h"
#include "ref/gguf.h"
#include "ref/need_size.h"

namespace nw::ref {

namespace {

constexpr u32 block_k = 32, tile_blocks = 32, tile_bytes = 1152, tile_ds = 1024;
constexpr u32 sum_bits = 0x1fff, sum_zero = 0x1000; // low bits of d: sum(q) + sum_zero
constexpr f32 least_d = 0x1p-96f;
constexpr u32 lanes = 32;

// Layout of a tile: q of even blocks, q of odd ones, then d of each.
u32 q_at(u32 b) { return b % 2 * 512 + b / 2 * 32; }

void quantize_block(const f32 *x, std::byte *tile, u32 b) {
    f32 most = 0;
    bool finite = true;
    for (u32 i = 0; i < block_k; ++i) {
        finite = finite && std::isfinite(x[i]);
        most = std::fmax(most, std::fabs(x[i]));
    }
    const f32 d =
        finite ? std::fmax(most / 127.0f, least_d) : std::numeric_limits<f32>::quiet_NaN();
    const u32 bits = (std::bit_cast<u32>(d) & ~sum_bits) | sum_zero;
    i32 sum = 0;
    for (u32 i = 0; i < block_k; ++i) {
        const i8 q = finite ? static_cast<i8>(std::round(x[i] / std::bit_cast<f32>(bits))) : i8{0};
        tile[q_at(b) + i] = std::byte(q);
        sum += q;
    }
    const u32 with_sum = bits + static_cast<u32>(sum);
    std::memcpy(tile + tile_ds + 4 * b, &with_sum, 4);
}

i32 dot(const i32 *quant, const i8 *q, u32 count) {
    i32 sum = 0;
    for (u32 i = 0; i < count; ++i)
        sum += quant[i] * q[i];
    return sum;
}

// The activations of one row.
struct Row {
    const GgufProduct &p;
    u32 m;

    Q8Block block(u64 b) const { return q8_block(p.tiles, m, p.m, b); }
};

// How the lanes of a step share blocks of a type.
enum class Share {
    whole,   // a lane has a block of 32, or a sub-block of that size
    halves,  // two sub-blocks of 16, one after the other
    pairs,   // 16 elements of each of two neighbouring sub-blocks, which nibbles hold together
    sixteens // 16 elements of each of two sub-blocks with one between them
};

Share share_of(GgmlType type) {
    switch (type) {
    case GgmlType::nvfp4:
        return Share::halves;
    case GgmlType::q4_K:
    case GgmlType::q5_K:
        return Share::pairs;
    case GgmlType::q2_K:
    case GgmlType::q3_K:
    case GgmlType::q6_K:
        return Share::sixteens;
    default:
        return Share::whole;
    }
}

// The contribution of one lane, the `piece`th of a block's. Units that kernels move from one factor
// to another are powers of two and exact. (f32 has the range: d * d8 is 2^-120 or more, except in
// mxfp4, whose kernels have no such units.) d * (sum of q) has one here, too, and minima its
// reciprocal, since it could overflow otherwise.

void add_whole(f32 &total, const GgufBlock &w, const Q8Block &q8) {
    const f32 sum = static_cast<f32>(dot(w.quant, q8.q, 32));
    total = w.minima ? std::fma(q8.d, std::fma(-w.dmin, q8.sum(), w.d * sum), total)
                     : std::fma(w.d * q8.d, sum, total);
}

void add_sub_block(f32 &total, const GgufBlock &w, const Q8Block &q8, u32 j) {
    const f32 scaled = w.d * static_cast<f32>(w.scale[j]) * q8.d;
    total = std::fma(scaled, static_cast<f32>(dot(&w.quant[32 * j], q8.q, 32)), total);
}

void add_half(f32 &total, const GgufBlock &w, const Q8Block &q8, u32 piece) {
    f32 v = 0;
    for (u32 j = 0; j < 2; ++j) {
        const f32 d = w.d * static_cast<f32>(w.scale[2 * piece + j]);
        const f32 sum = static_cast<f32>(dot(&w.quant[32 * piece + 16 * j], q8.q + 16 * j, 16));
        v = std::fma(d, sum, v);
    }
    total = std::fma(q8.d, v, total);
}

// Two lanes have both blocks of a pair, and each takes the minimum of one.
void add_pair(f32 &total, const GgufBlock &w, const Row &a, u64 super, u32 piece) {
    const u32 from = piece % 2 * 16, own = piece / 2 * 2 + piece % 2;
    total = std::fma(-32 * (w.dmin * static_cast<f32>(w.least[own])),
                     a.block(super * 8 + own).s_32(), total);
    for (u32 j = piece / 2 * 2; j < piece / 2 * 2 + 2; ++j) {
        const Q8Block q8 = a.block(super * 8 + j);
        const f32 sum = static_cast<f32>(dot(&w.quant[32 * j + from], q8.q + from, 16));
        total = std::fma(w.d * static_cast<f32>(w.scale[j]) * q8.d, sum, total);
    }
}

// A minimum is taken times the sum of 16 activations as int8: s is of 32.
void add_sixteens(f32 &total, const GgufBlock &w, const Row &a, u64 super, u32 piece) {
    const u32 from = piece % 2 * 16, first = piece / 4 * 4 + piece / 2 % 2;
    for (u32 j = first; w.minima && j <= first + 2; j += 2) {
        const f32 least = w.dmin * static_cast<f32>(w.least[2 * j + piece % 2]);
        total = std::fma(-16 * least, a.block(super * 8 + j).half_16(piece % 2), total);
    }
    for (u32 j = first; j <= first + 2; j += 2) {
        const Q8Block q8 = a.block(super * 8 + j);
        const f32 sum = static_cast<f32>(dot(&w.quant[32 * j + from], q8.q + from, 16));
        const f32 scale = w.d * static_cast<f32>(w.scale[2 * j + piece % 2]);
        total = std::fma(scale * q8.d, sum, total);
    }
}

// The lanes that share a block, and their contributions.
class Lanes {
public:
    Lanes(GgmlType type, u32 elements) : share_(share_of(type)), elements_(elements) {}

    u32 of_block() const { return elements_ / block_k; }
    // Sums of block number `block` of the row.
    void add(f32 &total, const GgufBlock &w, const Row &a, u64 block, u32 piece) const {
        switch (share_) {
        case Share::halves:
            return add_half(total, w, a.block(block * of_block() + piece), piece);
        case Share::pairs:
            return add_pair(total, w, a, block, piece);
        case Share::sixteens:
            return add_sixteens(total, w, a, block, piece);
        case Share::whole:
            if (elements_ == block_k)
                return add_whole(total, w, a.block(block));
            return add_sub_block(total, w, a.block(block * of_block() + piece), piece);
        }
    }

private:
    Share share_;
    u32 elements_;
};

// Sum of |w| times the quantization error of x over a block; adds the sum of |x| * (both parts of
// |w|) to `size`.
f64 left_out(const GgufBlock &w, const Row &a, std::span<const f32> x, u64 first, f64 &size) {
    f64 result = 0;
    for (u64 j = 0; j < x.size() / block_k; ++j) {
        const Q8Block q8 = a.block(first + j);
        for (u64 i = block_k * j; i < block_k * (j + 1); ++i) {
            const f64 product = f64{w.d} * w.scale[i / w.sub] * w.quant[i],
                      least = f64{w.dmin} * w.least[i / w.sub];
            const f64 left = x[i] - f64{q8.d} * q8.q[i % block_k];
            result += std::fabs((product - least) * left);
            size += (std::fabs(product) + std::fabs(least)) * std::fabs(x[i]);
        }
    }
    return result;
}

GgmlTypeInfo check_sizes(const GgufProduct &p) {
    const GgmlTypeInfo *info = find_ggml_type(p.type);
    if (!info || !info->decoded || info->elements == 1)
        throw Error(
            fmt::format("the ggml type {}: no product of it here", static_cast<u32>(p.type)));
    if (p.k == 0 || p.k % info->elements)
        throw Error(fmt::format("k = {}: {} has blocks of {}", p.k, info->name, info->elements));
    need_size("tiles", p.tiles.size(),
              u64{tile_bytes} * p.m * ceil_div(p.k, block_k * tile_blocks));
    need_size("w", p.w.size(), u64{p.n} * (p.k / info->elements) * info->bytes);
    return *info;
}

// Sums of four neighbours, 0 + 2 and 1 + 3 first; then eight of these, pairwise.
f32 sum_lanes(const f32 *lane) {
    f32 eight[8];
    for (u32 i = 0; i < 8; ++i)
        eight[i] = (lane[4 * i] + lane[4 * i + 2]) + (lane[4 * i + 1] + lane[4 * i + 3]);
    for (u32 step = 1; step < 8; step *= 2)
        for (u32 i = 0; i < 8; i += 2 * step)
            eight[i] += eight[i + step];
    return eight[0];
}

} // namespace

std::vector<std::byte> quantize_q8(std::span<const f32> x, u32 m, u32 k) {
    need_size("x", x.size(), u64{m} * k);
    if (k == 0 || k % block_k)
        throw Error(fmt::format("k = {}: must be a multiple of {}", k, block_k));
    const u32 steps = ceil_div(k, block_k * tile_blocks);
    std::vector<std::byte> tiles(u64{steps} * m * tile_bytes);
    constexpr f32 zeros[block_k] = {};
    for (u32 row = 0; row < m; ++row)
        for (u32 block = 0; block < steps * tile_blocks; ++block)
            quantize_block(block < k / block_k ? &x[u64{row} * k + u64{block} * block_k] : zeros,
                           &tiles[(u64{block / tile_blocks} * m + row) * tile_bytes],
                           block % tile_blocks);
    return tiles;
}

Q8Block q8_block(std::span<const std::byte> tiles, u32 m, u32 rows, u64 block) {
    const std::byte *tile = &tiles[(block / tile_blocks * rows + m) * tile_bytes];
    const u32 b = static_cast<u32>(block % tile_blocks);
    return {std::bit_cast<f32>(load<u32>(tile + tile_ds, b)),
            reinterpret_cast<const i8 *>(tile + q_at(b))};
}

f32 Q8Block::sum() const { return static_cast<f32>(std::accumulate(q, q + block_k, 0)); }

f32 Q8Block::s_32() const { return d * (sum() / 32); }

f32 Q8Block::half_16(u32 half) const {
    const i8 *const first = q + 16 * half;
    return d * (static_cast<f32>(std::accumulate(first, first + 16, 0)) / 16);
}

std::vector<f32> gguf_decode(const GgufProduct &p) {
    const GgmlTypeInfo info = check_sizes(p);
    const Lanes shared(p.type, info.elements);
    const u32 blocks = p.k / info.elements;
    std::vector<f32> c(u64{p.m} * p.n);
    for (u32 n = 0; n < p.n; ++n) {
        std::vector<GgufBlock> row;
        for (u32 b = 0; b < blocks; ++b)
            row.push_back(gguf_block(p.type, &p.w[(u64{n} * blocks + b) * info.bytes]));
        for (u32 m = 0; m < p.m; ++m) {
            f32 lane[lanes] = {};
            for (u32 b = 0; b < blocks; ++b)
                for (u32 piece = 0; piece < shared.of_block(); ++piece)
                    shared.add(lane[(b * shared.of_block() + piece) % lanes], row[b], Row{p, m}, b,
                               piece);
            c[u64{m} * p.n + n] = sum_lanes(lane);
        }
    }
    return c;
}

GgufExact gguf_exact(std::span<const f32> x, const GgufProduct &p) {
    const GgmlTypeInfo info = check_sizes(p);
    need_size("x", x.size(), u64{p.m} * p.k);
    const Lanes shared(p.type, info.elements);
    const u32 blocks = p.k / info.elements;
    const std::vector<f64> none(u64{p.m} * p.n);
    GgufExact out{none, none, none};
    std::vector<f32> row(p.k);
    for (u32 n = 0; n < p.n; ++n) {
        const std::byte *w = &p.w[u64{n} * blocks * info.bytes];
        dequantize_row(p.type, w, p.k, row.data());
        for (u32 m = 0; m < p.m; ++m) {
            const std::span<const f32> v = x.subspan(u64{m} * p.k, p.k);
            f64 &c = out.c[u64{m} * p.n + n], &tolerance = out.tolerance[u64{m} * p.n + n];
            for (u32 i = 0; i < p.k; ++i) {
                c += f64{row[i]} * v[i];
                tolerance += std::fabs(f64{row[i]} * v[i]) * 0x1p-24; // rounding of the weight
            }
            for (u32 b = 0; b < blocks; ++b)
                tolerance += left_out(gguf_block(p.type, w + u64{b} * info.bytes), Row{p, m},
                                      v.subspan(b * info.elements, info.elements),
                                      u64{b} * shared.of_block(), out.size[u64{m} * p.n + n]);
        }
    }
    return out;
}

} // namespace nw::ref
