// SPDX-License-Identifier: MIT
#include "ref/gguf_product.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/half.h"
#include "formats/words.h"
#include "ref/gguf.h"
#include "ref/need_size.h"

namespace nw::ref {

namespace {

constexpr u32 block_k = 32, tile_blocks = 32, tile_bytes = 1152, tile_ds = 1024;
constexpr u32 lanes = 32;

// Layout of a tile: q of even blocks, q of odd ones, then d and s of each.
u32 q_at(u32 b) { return b % 2 * 512 + b / 2 * 32; }

void quantize_block(const f32 *x, std::byte *tile, u32 b) {
    f32 sum[block_k], most = 0;
    for (u32 i = 0; i < block_k; ++i) {
        sum[i] = x[i];
        most = std::fmax(most, std::fabs(x[i]));
    }
    for (u32 half = block_k / 2; half >= 1; half /= 2)
        for (u32 i = 0; i < half; ++i)
            sum[i] += sum[i + half];
    const f32 d = std::isfinite(sum[0]) ? most / 127.0f : std::numeric_limits<f32>::quiet_NaN();
    const u16 ds[2] = {f32_to_f16(d), f32_to_f16(sum[0] + 0.0f)};
    std::memcpy(tile + tile_ds + 4 * b, ds, 4);
    const bool none = std::isnan(d) || f16_to_f32(ds[0]) == 0;
    for (u32 i = 0; i < block_k; ++i)
        tile[q_at(b) + i] = std::byte(none ? 0 : static_cast<i8>(std::round(x[i] / d)));
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

// A block of weights, taken apart: how many lanes share it, what one of them adds to its sum, and
// what the tiles leave of its products with x.

struct Q4_K {
    using Block = BlockQ4_K;
    static constexpr u32 pieces = 8;
    f32 d, dmin;
    u32 scale[8], least[8];
    i32 quant[Block::elements];

    explicit Q4_K(const Block &b) : d(f16_to_f32(b.d)), dmin(f16_to_f32(b.dmin)) {
        for (u32 j = 0; j < 8; ++j)
            scale[j] = sub_scale(b, j).scale, least[j] = sub_scale(b, j).min;
        for (u32 i = 0; i < Block::elements; ++i)
            quant[i] = b.qs[i / 64 * 32 + i % 32] >> i / 32 % 2 * 4 & 15;
    }

    // 16 quants of each of two sub-blocks.
    void add(f32 &total, const Row &a, u64 super, u32 piece) const {
        const u32 pair = piece / 2, from = piece % 2 * 16;
        f32 v = 0, b = 0;
        for (u32 half = 0; half < 2; ++half) {
            const u32 j = 2 * pair + half;
            const Q8Block q8 = a.block(super * 8 + j);
            const i32 sum = dot(&quant[32 * j + from], q8.q + from, 16);
            // High nibbles are scaled by 16, and their d8 by 1/16.
            const f32 unit = half ? 16.0f : 1.0f;
            const f32 scaled = static_cast<f32>(scale[j]) * (q8.d / unit);
            const f32 units = static_cast<f32>(sum) * unit, min = static_cast<f32>(least[j]);
            v = half ? std::fma(scaled, units, v) : scaled * units;
            b = half ? std::fma(min, q8.s / 2, b) : min * (q8.s / 2); // split between two lanes
        }
        total = std::fma(d, v, total);
        total = std::fma(-dmin, b, total);
    }

    f64 left_out(const Row &a, std::span<const f32> x, u64 super) const {
        f64 result = 0;
        for (u32 j = 0; j < 8; ++j) {
            const Q8Block q8 = a.block(super * 8 + j);
            f64 sum = 0;
            for (u32 i = 32 * j; i < 32 * (j + 1); ++i) {
                result +=
                    std::fabs(f64{d} * scale[j] * quant[i] * (x[i] - f64{q8.d} * q8.q[i % 32]));
                sum += x[i];
            }
            result += std::fabs(f64{dmin} * least[j] * (sum - q8.s));
        }
        return result;
    }
};

// What the tiles leave of x, by weights without minima.
f64 left_of(std::span<const f32> w, const Row &a, std::span<const f32> x, u64 first) {
    f64 result = 0;
    for (u32 i = 0; i < w.size(); ++i) {
        const Q8Block q8 = a.block(first + i / block_k);
        result += std::fabs(f64{w[i]} * (x[i] - f64{q8.d} * q8.q[i % block_k]));
    }
    return result;
}

struct Q6_K {
    using Block = BlockQ6_K;
    static constexpr u32 pieces = 8;
    f32 d;
    i32 scale[16], quant[Block::elements];

    explicit Q6_K(const Block &b) : d(f16_to_f32(b.d)) {
        std::ranges::copy(b.scales, scale);
        for (u32 i = 0; i < Block::elements; ++i) {
            const u32 half = i / 128, r = i / 32 % 4, l = i % 32;
            const u32 low = b.ql[half * 64 + r % 2 * 32 + l] >> r / 2 * 4 & 15;
            quant[i] = static_cast<i32>(low | (b.qh[half * 32 + l] >> r * 2 & 3u) << 4) - 32;
        }
    }

    // 16 quants of two sub-blocks with one between them.
    void add(f32 &total, const Row &a, u64 super, u32 piece) const {
        f32 v = 0;
        for (u32 half = 0; half < 2; ++half) {
            const u32 j = piece / 4 * 4 + piece / 2 % 2 + 2 * half, from = piece % 2 * 16;
            const Q8Block q8 = a.block(super * 8 + j);
            const f32 scaled = static_cast<f32>(scale[2 * j + piece % 2]) * q8.d;
            const f32 sum = static_cast<f32>(dot(&quant[32 * j + from], q8.q + from, 16));
            v = half ? std::fma(scaled, sum, v) : scaled * sum;
        }
        total = std::fma(d, v, total);
    }
};

// Blocks of 32: one per lane.
struct Q8_0 {
    using Block = BlockQ8_0;
    static constexpr u32 pieces = 1;
    f32 d;
    i32 quant[Block::elements];

    explicit Q8_0(const Block &b) : d(f16_to_f32(b.d)) { std::ranges::copy(b.qs, quant); }

    void add(f32 &total, const Row &a, u64 block, u32) const {
        const Q8Block q8 = a.block(block);
        total = std::fma(d * q8.d, static_cast<f32>(dot(quant, q8.q, 32)), total);
    }
};

struct Q4_0 {
    using Block = BlockQ4_0;
    static constexpr u32 pieces = 1;
    f32 d;
    i32 quant[Block::elements];

    explicit Q4_0(const Block &b) : d(f16_to_f32(b.d)) {
        for (u32 i = 0; i < Block::elements; ++i)
            quant[i] = (b.qs[i % 16] >> i / 16 * 4 & 15) - 8;
    }

    // Scaled by 16, with a d8 scaled by 1/16.
    void add(f32 &total, const Row &a, u64 block, u32) const {
        const Q8Block q8 = a.block(block);
        const f32 sum = static_cast<f32>(dot(quant, q8.q, 32)) * 16;
        total = std::fma(d * (q8.d / 16), sum, total);
    }
};

template <class W> W block_at(const GgufProduct &p, u64 block) {
    return W(load<typename W::Block>(p.w, block));
}

void check_sizes(const GgufProduct &p) {
    const GgmlTypeInfo *info = find_ggml_type(p.type);
    if (p.k == 0 || p.k % info->elements)
        throw Error(fmt::format("k = {}: {} has blocks of {}", p.k, info->name, info->elements));
    need_size("tiles", p.tiles.size(),
              u64{tile_bytes} * p.m * ceil_div(p.k, block_k * tile_blocks));
    need_size("w", p.w.size(), u64{p.n} * (p.k / info->elements) * info->bytes);
}

// Calls work(W) with W as above.
template <class Work> auto by_type(GgmlType type, const Work &work) {
    switch (type) {
    case GgmlType::q4_0:
        return work.template operator()<Q4_0>();
    case GgmlType::q8_0:
        return work.template operator()<Q8_0>();
    case GgmlType::q4_K:
        return work.template operator()<Q4_K>();
    case GgmlType::q6_K:
        return work.template operator()<Q6_K>();
    default:
        throw Error(fmt::format("the ggml type {}: no product of it here, only of q4_0, q8_0, "
                                "q4_K, q6_K",
                                static_cast<u32>(type)));
    }
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

template <class W> std::vector<f32> decode(const GgufProduct &p) {
    check_sizes(p);
    const u32 blocks = p.k / W::Block::elements;
    std::vector<f32> c(u64{p.m} * p.n);
    for (u32 n = 0; n < p.n; ++n) {
        std::vector<W> row;
        for (u32 b = 0; b < blocks; ++b)
            row.push_back(block_at<W>(p, u64{n} * blocks + b));
        for (u32 m = 0; m < p.m; ++m) {
            f32 lane[lanes] = {};
            for (u32 b = 0; b < blocks; ++b)
                for (u32 piece = 0; piece < W::pieces; ++piece)
                    row[b].add(lane[(b * W::pieces + piece) % lanes], Row{p, m}, b, piece);
            c[u64{m} * p.n + n] = sum_lanes(lane);
        }
    }
    return c;
}

template <class W> GgufExact exact(std::span<const f32> x, const GgufProduct &p) {
    check_sizes(p);
    need_size("x", x.size(), u64{p.m} * p.k);
    constexpr u32 elements = W::Block::elements;
    const u32 blocks = p.k / elements;
    GgufExact out{std::vector<f64>(u64{p.m} * p.n), std::vector<f64>(u64{p.m} * p.n)};
    std::vector<f32> row(p.k);
    for (u32 n = 0; n < p.n; ++n) {
        const u64 first = u64{n} * blocks;
        dequantize_row(p.type, &p.w[first * sizeof(typename W::Block)], p.k, row.data());
        for (u32 m = 0; m < p.m; ++m) {
            const std::span<const f32> v = x.subspan(u64{m} * p.k, p.k);
            f64 &c = out.c[u64{m} * p.n + n], &tolerance = out.tolerance[u64{m} * p.n + n];
            for (u32 i = 0; i < p.k; ++i) {
                c += f64{row[i]} * v[i];
                tolerance += std::fabs(f64{row[i]} * v[i]) * 0x1p-24; // rounding of the weight
            }
            for (u32 b = 0; b < blocks; ++b) {
                const auto part = v.subspan(b * elements, elements);
                if constexpr (std::is_same_v<W, Q4_K>)
                    tolerance += block_at<W>(p, first + b).left_out(Row{p, m}, part, b);
                else
                    tolerance += left_of(std::span(row).subspan(b * elements, elements), Row{p, m},
                                         part, u64{b} * (elements / block_k));
            }
        }
    }
    return out;
}

} // namespace

std::vector<std::byte> quantize_q8(std::span<const f32> x, u32 m, u32 k) {
    need_size("x", x.size(), u64{m} * k);
    if (k == 0 || k % block_k)
        throw Error(fmt::format("k = {}: must be a multiple of {}", k, block_k));
    const u32 steps = ceil_div(k, block_k * tile_blocks);
    std::vector<std::byte> tiles(u64{steps} * m * tile_bytes);
    for (u32 row = 0; row < m; ++row)
        for (u32 block = 0; block < k / block_k; ++block)
            quantize_block(&x[u64{row} * k + u64{block} * block_k],
                           &tiles[(u64{block / tile_blocks} * m + row) * tile_bytes],
                           block % tile_blocks);
    return tiles;
}

Q8Block q8_block(std::span<const std::byte> tiles, u32 m, u32 rows, u64 block) {
    const std::byte *tile = &tiles[(block / tile_blocks * rows + m) * tile_bytes];
    const u32 b = static_cast<u32>(block % tile_blocks);
    const std::byte *ds = tile + tile_ds + 4 * b;
    return {f16_to_f32(load<u16>(ds, 0)), f16_to_f32(load<u16>(ds, 1)),
            reinterpret_cast<const i8 *>(tile + q_at(b))};
}

std::vector<f32> gguf_decode(const GgufProduct &p) {
    return by_type(p.type, [&]<class W> { return decode<W>(p); });
}

GgufExact gguf_exact(std::span<const f32> x, const GgufProduct &p) {
    return by_type(p.type, [&]<class W> { return exact<W>(x, p); });
}

} // namespace nw::ref
