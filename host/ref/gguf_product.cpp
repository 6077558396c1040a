// SPDX-License-Identifier: MIT
#include "ref/gguf_product.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.h"
#include "ref/gguf.h"
#include "ref/need_size.h"

namespace nw::ref {

namespace {

constexpr u32 block_k = 32, tile_blocks = 32, tile_bytes = 1152, tile_ds = 1024;
constexpr u32 super_k = BlockQ4_K::elements, super_bytes = sizeof(BlockQ4_K), lanes = 32;

// Of a tile: q of even blocks, q of odd ones, then d and s of each.
u32 q_at(u32 b) { return b % 2 * 512 + b / 2 * 32; }

f32 half_of(const std::byte *p) {
    u16 bits;
    std::memcpy(&bits, p, 2);
    return f16_to_f32(bits);
}

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

// One super-block of q4_K, taken apart.
struct Super {
    f32 d, dmin;
    u32 scale[8], least[8], quant[super_k];

    explicit Super(const std::byte *p) {
        BlockQ4_K b;
        std::memcpy(&b, p, sizeof b);
        d = f16_to_f32(b.d), dmin = f16_to_f32(b.dmin);
        for (u32 j = 0; j < 8; ++j)
            scale[j] = sub_scale(b, j).scale, least[j] = sub_scale(b, j).min;
        for (u32 i = 0; i < super_k; ++i)
            quant[i] =
                i / 32 % 2 ? b.qs[i / 64 * 32 + i % 32] / 16u : b.qs[i / 64 * 32 + i % 32] % 16u;
    }
};

void check_sizes(const GgufProduct &p) {
    if (p.k == 0 || p.k % super_k)
        throw Error(fmt::format("k = {}: q4_K has super-blocks of {}", p.k, super_k));
    need_size("tiles", p.tiles.size(),
              u64{tile_bytes} * p.m * ceil_div(p.k, block_k * tile_blocks));
    need_size("w", p.w.size(), u64{p.n} * (p.k / super_k) * super_bytes);
}

// What one lane adds to its sum of a row: 16 quants of each of two blocks of a super-block.
void add_lane(f32 &total, const Super &w, const GgufProduct &p, u32 m, u64 super, u32 piece) {
    const u32 pair = piece / 2, from = piece % 2 * 16;
    f32 v = 0, b = 0;
    for (u32 half = 0; half < 2; ++half) {
        const u32 j = 2 * pair + half;
        const Q8Block a = q8_block(p.tiles, m, p.m, super * 8 + j);
        i32 dot = 0;
        for (u32 i = from; i < from + 16; ++i)
            dot += static_cast<i32>(w.quant[32 * j + i]) * a.q[i];
        // The high nibbles are 16 times as much, and their d8 a 16th.
        const f32 unit = half ? 16.0f : 1.0f;
        const f32 scale = static_cast<f32>(w.scale[j]) * (a.d / unit);
        const f32 sum = static_cast<f32>(dot) * unit, least = static_cast<f32>(w.least[j]);
        v = half ? std::fma(scale, sum, v) : scale * sum;
        b = half ? std::fma(least, a.s / 2, b) : least * (a.s / 2); // two lanes have it
    }
    total = std::fma(w.d, v, total);
    total = std::fma(-w.dmin, b, total);
}

// Four neighbours, 0 + 2 and 1 + 3 first; then eight of these, pairwise.
f32 sum_lanes(const f32 *lane) {
    f32 eight[8];
    for (u32 i = 0; i < 8; ++i)
        eight[i] = (lane[4 * i] + lane[4 * i + 2]) + (lane[4 * i + 1] + lane[4 * i + 3]);
    for (u32 step = 1; step < 8; step *= 2)
        for (u32 i = 0; i < 8; i += 2 * step)
            eight[i] += eight[i + step];
    return eight[0];
}

// What a super-block's tiles leave of x: of each value, and of each sum.
f64 left_out(const Super &w, std::span<const f32> x, const GgufProduct &p, u32 m, u64 super) {
    f64 result = 0;
    for (u32 j = 0; j < super_k / block_k; ++j) {
        const Q8Block a = q8_block(p.tiles, m, p.m, super * (super_k / block_k) + j);
        f64 sum = 0;
        for (u32 i = block_k * j; i < block_k * (j + 1); ++i) {
            result += std::fabs(f64{w.d} * w.scale[j] * w.quant[i]) *
                      std::fabs(f64{x[i]} - f64{a.d} * a.q[i % block_k]);
            sum += x[i];
        }
        result += std::fabs(f64{w.dmin} * w.least[j]) * std::fabs(sum - a.s);
    }
    return result;
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
    return {half_of(ds), half_of(ds + 2), reinterpret_cast<const i8 *>(tile + q_at(b))};
}

std::vector<f32> gguf_decode_q4k(const GgufProduct &p) {
    check_sizes(p);
    const u32 supers = p.k / super_k;
    std::vector<f32> c(u64{p.m} * p.n);
    for (u32 n = 0; n < p.n; ++n) {
        std::vector<Super> row;
        for (u32 s = 0; s < supers; ++s)
            row.emplace_back(&p.w[(u64{n} * supers + s) * super_bytes]);
        for (u32 m = 0; m < p.m; ++m) {
            f32 lane[lanes] = {};
            for (u32 s = 0; s < supers; ++s)
                for (u32 piece = 0; piece < 8; ++piece)
                    add_lane(lane[s % 4 * 8 + piece], row[s], p, m, s, piece);
            c[u64{m} * p.n + n] = sum_lanes(lane);
        }
    }
    return c;
}

GgufExact gguf_exact_q4k(std::span<const f32> x, const GgufProduct &p) {
    check_sizes(p);
    need_size("x", x.size(), u64{p.m} * p.k);
    const u32 supers = p.k / super_k;
    GgufExact out{std::vector<f64>(u64{p.m} * p.n), std::vector<f64>(u64{p.m} * p.n)};
    std::vector<f32> row(p.k);
    for (u32 n = 0; n < p.n; ++n) {
        const std::byte *w = &p.w[u64{n} * supers * super_bytes];
        dequantize_row(GgmlType::q4_K, w, p.k, row.data());
        for (u32 m = 0; m < p.m; ++m) {
            const std::span<const f32> v = x.subspan(u64{m} * p.k, p.k);
            f64 &c = out.c[u64{m} * p.n + n], &tolerance = out.tolerance[u64{m} * p.n + n];
            for (u32 i = 0; i < p.k; ++i) {
                c += f64{row[i]} * v[i];
                tolerance += std::fabs(f64{row[i]} * v[i]) * 0x1p-24; // of the weight's rounding
            }
            for (u32 s = 0; s < supers; ++s)
                tolerance += left_out(Super(w + u64{s} * super_bytes),
                                      v.subspan(s * super_k, super_k), p, m, s);
        }
    }
    return out;
}

} // namespace nw::ref
