// SPDX-License-Identifier: MIT
#include "ref/gguf_prefill.h"

#include <array>
#include <cmath>

#include "base/half.h"
#include "formats/files/words.h"
#include "ref/gguf.h"
#include "ref/gguf_halves.h"
#include "ref/need_size.h"
#include "ref/running_sums.h"

namespace nw::ref {

namespace {

constexpr u32 super_k = 256, block_k = 32, mma_k = 16;

// f16(x), also for a sum that is exact in f64.
f32 half(f64 x) { return f16_to_f32(F16::narrow(x)); }

// The divisor of a block's activations, and factor of its weights.
f32 times(u32 block) { return block % 2 ? 16.0f : 1.0f; }

// True if quants of odd blocks are multiplied by 16 instead of their scale: the results differ
// where the scale is subnormal or infinite.
bool quants_times_16(GgmlType type) { return type == GgmlType::q4_K || type == GgmlType::q5_K; }

// A row as WMMA operands.
void weights_of_row(GgmlType type, const std::byte *row, u32 k, f32 *out) {
    const GgmlTypeInfo &info = *find_ggml_type(type);
    const bool products = info.elements != block_k; // scales are, and their -0 becomes 0
    GgufBlock w{};
    for (u32 i = 0; i < k; ++i) {
        const u32 in = i % info.elements, j = in / 16;
        if (in == 0)
            w = gguf_block(type, row + i / info.elements * info.bytes);
        const f32 unit = times(i / block_k), of_quant = quants_times_16(type) ? unit : 1;
        const f32 zero = products ? 0.0f : -0.0f;
        const auto scaled = [&](f32 d, i32 factor) {
            return half(std::fma(d, static_cast<f32>(factor), zero));
        };
        const f32 scale = scaled(w.d * unit / of_quant, w.scale[j * 16 / w.sub]);
        const f32 least = w.minima ? scaled(-w.dmin * unit, w.least[j * 16 / w.sub]) : -0.0f;
        out[i] = half(f64{scale} * (static_cast<f32>(w.quant[in]) * of_quant) + least);
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
    // The operands of WMMA for x, and the values that a row of them represents.
    f32 activation(u32 m, u32 k) const { return halves_[u64{m} * p_.k + k]; }
    std::vector<f64> values(u32 m) const {
        std::vector<f64> out(p_.k);
        for (u32 k = 0; k < p_.k; ++k)
            out[k] = std::ldexp(f64{activation(m, k)} * times(k / block_k), shift(m));
        return out;
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

// Bound of the rounding of weights to f16, by the formula. For normal numbers 2^-11 of scale,
// minimum and result each; for smaller ones half of 2^-24 times the quant.
f64 weight_error(f32 w, f64 least) {
    constexpr f64 unit = 0x1p-11, tiny = 0x1p-25;
    return (2 * std::fabs(f64{w}) + 2 * least) * unit * (1 + unit) + 129 * tiny;
}

// The bound of each weight of a row.
std::vector<f64> weight_errors(GgmlType type, const std::byte *row, std::span<const f32> w) {
    const GgmlTypeInfo &info = *find_ggml_type(type);
    std::vector<f64> out(w.size());
    GgufBlock b;
    for (u32 i = 0; i < w.size(); ++i) {
        if (i % info.elements == 0)
            b = gguf_block(type, row + i / info.elements * info.bytes);
        const f64 least = f64{b.dmin} * b.least[i % info.elements / b.sub];
        out[i] = weight_error(w[i], std::fabs(least));
    }
    return out;
}

struct Sums {
    f64 c = 0, off = 0, sum = 0;
};

// Product and tolerance of a row of x, its rounded values, and a row of weights.
Sums sums_of(const f32 *x, const std::vector<f64> &used, const std::vector<f32> &w,
             const std::vector<f64> &error) {
    RunningSums c, off, sum;
    for (u32 k = 0; k < used.size(); k += RunningSums::count)
        for (u32 i = 0; i < RunningSums::count; ++i) {
            const f64 v = x[k + i], u = used[k + i], wide = w[k + i], least = error[k + i];
            c.add(i, wide * v);
            off.add(i, std::fabs(wide * (v - u)) + least * std::fabs(u));
            sum.add(i, (std::fabs(wide) + least) * std::fabs(u));
        }
    return {c.total(), off.total(), sum.total()};
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
    std::vector<std::vector<f64>> used;
    for (u32 m = 0; m < p.m; ++m)
        used.push_back(product.values(m));
    std::vector<f32> w(p.k);
    for (u32 n = 0; n < p.n; ++n) {
        dequantize_row(p.type, product.row(n), p.k, w.data());
        const std::vector<f64> error = weight_errors(p.type, product.row(n), w);
        for (u32 m = 0; m < p.m; ++m) {
            const Sums all = sums_of(&x[u64{m} * p.k], used[m], w, error);
            // WMMA adds at least two products at a time; each addition loses at most 2^-23.
            out.c[u64{m} * p.n + n] = all.c;
            out.tolerance[u64{m} * p.n + n] = all.off + all.sum * 0x1p-23 * (p.k / 2);
        }
    }
    return out;
}

} // namespace nw::ref
