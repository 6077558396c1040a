// SPDX-License-Identifier: MIT
#include "ref/gguf_prefill.h"

#include <array>
#include <cmath>

#include "base/half.h"
#include "formats/words.h"
#include "ref/gguf.h"
#include "ref/gguf_halves.h"
#include "ref/need_size.h"

namespace nw::ref {

namespace {

constexpr u32 super_k = 256, block_k = 32, mma_k = 16;

// f16(x), also for a sum that is exact in f64.
f32 half(f64 x) { return f16_to_f32(F16::narrow(x)); }

// The divisor of a block's activations, and factor of its weights.
f32 times(u32 block) { return block % 2 ? 16.0f : 1.0f; }

// A scale of block b, times 16 if b is odd; -0 becomes 0.
f32 scale_of(u16 d, i32 scale, u32 b) {
    return half(std::fma(f16_to_f32(d) * times(b), static_cast<f32>(scale), 0.0f));
}

// 32 weights of each type as WMMA operands, block b of a row.
void weights_of(const BlockQ4_0 &w, u32 b, f32 *out) {
    const f32 d = half(f64{f16_to_f32(w.d)} * times(b));
    for (u32 i = 0; i < block_k; ++i) {
        const i32 q = w.qs[i % 16] >> i / 16 * 4 & 15;
        out[i] = half(f64{d} * (q - 8));
    }
}

void weights_of(const BlockQ8_0 &w, u32 b, f32 *out) {
    const f32 d = half(f64{f16_to_f32(w.d)} * times(b));
    for (u32 i = 0; i < block_k; ++i)
        out[i] = half(f64{d} * w.qs[i]);
}

// The scale isn't multiplied by 16: the quants of odd blocks are.
void weights_of(const BlockQ4_K &w, u32 b, f32 *out) {
    const u32 j = b % 8;
    const SubScale s = sub_scale(w, j);
    const f32 scale = scale_of(w.d, static_cast<i32>(s.scale), 0);
    const f32 least = scale_of(w.dmin, -static_cast<i32>(s.min), b);
    for (u32 i = 0; i < block_k; ++i) {
        const u32 q = w.qs[j / 2 * block_k + i] >> j % 2 * 4 & 15;
        out[i] = half(f64{scale} * (static_cast<f32>(q) * times(b)) + least);
    }
}

void weights_of(const BlockQ6_K &w, u32 b, f32 *out) {
    const u32 j = b % 8;
    for (u32 i = 0; i < block_k; ++i) {
        const u32 low = w.ql[j / 4 * 64 + j % 2 * 32 + i] >> j % 4 / 2 * 4 & 15;
        const u32 high = w.qh[j / 4 * 32 + i] >> j % 4 * 2 & 3;
        const f32 scale = scale_of(w.d, w.scales[2 * j + i / 16], b);
        out[i] = half(f64{scale} * (static_cast<i32>(low | high << 4) - 32));
    }
}

template <class Block> void weights_of_row(const std::byte *row, u32 k, f32 *out) {
    for (u32 b = 0; b < k / block_k; ++b)
        weights_of(load<Block>(row + b * block_k / Block::elements * sizeof(Block)), b,
                   out + b * block_k);
}

void weights_of_row(GgmlType type, const std::byte *row, u32 k, f32 *out) {
    switch (type) {
    case GgmlType::q4_0:
        return weights_of_row<BlockQ4_0>(row, k, out);
    case GgmlType::q8_0:
        return weights_of_row<BlockQ8_0>(row, k, out);
    case GgmlType::q4_K:
        return weights_of_row<BlockQ4_K>(row, k, out);
    case GgmlType::q6_K:
        return weights_of_row<BlockQ6_K>(row, k, out);
    default:
        throw Error(fmt::format("type {}: gguf_prefill has no formula for it", u32(type)));
    }
}

class Product {
public:
    explicit Product(const GgufPrefillProduct &p)
        : p_(p), kind_(wmma_sum(p.gfx)), at_{ceil_div(p.k, super_k), p.tiles},
          order_{order_of(kind_, false, 0), order_of(kind_, false, 1)} {
        const GgmlTypeInfo *type = find_ggml_type(p.type);
        if (!type || p.k == 0 || p.k % type->elements)
            throw Error(fmt::format("k = {}: no whole number of blocks", p.k));
        row_bytes_ = u64{p.k} / type->elements * type->bytes;
        need_size("w", p.w.size(), p.n * row_bytes_);
        need_size("a", p.a.size(), at_.bytes());
        halves_.resize(u64{p.m} * p.k);
        for (u32 m = 0; m < p.m; ++m)
            for (u32 k = 0; k < p.k; ++k)
                halves_[u64{m} * p.k + k] = f16_to_f32(load<u16>(&p.a[at_.value(m, k)]));
    }

    // As WMMA operands.
    std::vector<f32> weights(u32 n) const {
        std::vector<f32> out(p_.k);
        weights_of_row(p_.type, row(n), p_.k, out.data());
        return out;
    }
    const std::byte *row(u32 n) const { return &p_.w[n * row_bytes_]; }
    i32 shift(u32 m) const { return load<i32>(&p_.a[at_.shift(m)]); }
    // What WMMA gets of x, and what it stands for.
    f32 activation(u32 m, u32 k) const { return halves_[u64{m} * p_.k + k]; }
    f64 value(u32 m, u32 k) const {
        return std::ldexp(f64{activation(m, k)} * times(k / block_k), shift(m));
    }

    // Starts at the tile's first k and wraps around.
    f32 result(u32 m, std::span<const f32> w) const {
        const u32 blocks = p_.k / block_k;
        const u32 first = m / p_.rows % p_.raster * p_.rotate * (super_k / block_k);
        f32 acc = 0;
        for (u32 i = 0; i < blocks; ++i)
            acc = add_block(acc, m, (first + i) % blocks, w);
        return std::ldexp(acc, shift(m));
    }

private:
    f32 add_block(f32 acc, u32 m, u32 block, std::span<const f32> w) const {
        std::array<f32, mma_k> a, b;
        for (const std::array<u32, mma_k> &order : order_) {
            for (u32 i = 0; i < mma_k; ++i) {
                a[i] = activation(m, block_k * block + order[i]);
                b[i] = w[block_k * block + order[i]];
            }
            acc = wmma(kind_, a, b, acc);
        }
        return acc;
    }

    const GgufPrefillProduct &p_;
    WmmaSum kind_;
    HalvesLayout at_;
    std::array<std::array<u32, mma_k>, 2> order_;
    u64 row_bytes_ = 0;
    std::vector<f32> halves_;
};

// How far f16 may take weights from what they are: as the formula has it, not as it came out. Of
// normal numbers 2^-11 of scale, minimum and result each; of smaller ones half of 2^-24, a quant
// times.
f64 weight_error(f32 w, f64 least) {
    constexpr f64 unit = 0x1p-11, tiny = 0x1p-25;
    return (2 * std::fabs(f64{w}) + 2 * least) * unit * (1 + unit) + 129 * tiny;
}

// |dmin * mn| for q4_K's blocks, 0 for the others.
f64 least_of(GgmlType type, const std::byte *row, u32 k) {
    if (type != GgmlType::q4_K)
        return 0;
    const auto block = load<BlockQ4_K>(row + k / super_k * sizeof(BlockQ4_K));
    return std::fabs(f64{f16_to_f32(block.dmin)}) * sub_scale(block, k % super_k / block_k).min;
}

} // namespace

std::vector<f32> gguf_prefill(const GgufPrefillProduct &p) {
    const Product product(p);
    std::vector<f32> c(u64{p.m} * p.n);
    for (u32 n = 0; n < p.n; ++n) {
        const std::vector<f32> w = product.weights(n);
        for (u32 m = 0; m < p.m; ++m)
            c[u64{m} * p.n + n] = product.result(m, w);
    }
    return c;
}

GgufPrefillExact gguf_prefill_exact(std::span<const f32> x, const GgufPrefillProduct &p) {
    const Product product(p);
    need_size("x", x.size(), u64{p.m} * p.k);
    GgufPrefillExact out{std::vector<f64>(u64{p.m} * p.n), std::vector<f64>(u64{p.m} * p.n)};
    std::vector<f32> w(p.k);
    std::vector<f64> error(p.k);
    for (u32 n = 0; n < p.n; ++n) {
        dequantize_row(p.type, product.row(n), p.k, w.data());
        for (u32 k = 0; k < p.k; ++k)
            error[k] = weight_error(w[k], least_of(p.type, product.row(n), k));
        for (u32 m = 0; m < p.m; ++m) {
            f64 c = 0, off = 0, sum = 0;
            for (u32 k = 0; k < p.k; ++k) {
                const f64 v = x[u64{m} * p.k + k], used = product.value(m, k);
                c += w[k] * v;
                off += std::fabs(w[k] * (v - used)) + error[k] * std::fabs(used);
                sum += (std::fabs(w[k]) + error[k]) * std::fabs(used);
            }
            // WMMA adds at least two products at a time; each addition loses at most 2^-23.
            out.c[u64{m} * p.n + n] = c;
            out.tolerance[u64{m} * p.n + n] = off + sum * 0x1p-23 * (p.k / 2);
        }
    }
    return out;
}

} // namespace nw::ref
