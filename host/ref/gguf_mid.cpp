// SPDX-License-Identifier: MIT
#include "ref/gguf_mid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "base/half.h"
#include "formats/files/words.h"
#include "ref/gguf.h"
#include "ref/gguf_halves.h"
#include "ref/need_size.h"
#include "ref/running_sums.h"

namespace nw::ref {

namespace {

constexpr u32 super_k = 256, block_k = 32, blocks = super_k / block_k;

// Where quants of several blocks or halves of one share bytes, kernels don't shift the upper ones
// down: at bit 4 they are 16 times as large, and finer relative to WMMA's grid of subnormals
// (S-004).
f32 unit_of(GgmlType type, u32 k) {
    const u32 block = k / block_k;
    switch (type) {
    case GgmlType::mxfp4: // f16 has the fields of e2m1
        return 512;
    case GgmlType::q5_0:
    case GgmlType::q5_1:
        return k % block_k / 16 ? 16 : 1;
    case GgmlType::q4_K:
    case GgmlType::q5_K:
        return block % 2 ? 16 : 1;
    case GgmlType::q6_K:
        return block % 4 / 2 ? 16 : 1;
    default:
        return 1;
    }
}

// True if scales are multiplied into the quants, so that a super-block is one sum: such products
// are integers that f16 represents.
bool is_whole(GgmlType type) {
    return type == GgmlType::q2_K || type == GgmlType::q3_K || type == GgmlType::nvfp4;
}

// True if even and odd blocks of a super-block have separate sums, the odd ones of four times their
// quants (T-193).
bool by_parity(GgmlType type) { return type == GgmlType::q2_K; }

// True if each 16 k have a product of their own, since they have their own scale or unit.
bool by_sixteens(GgmlType type, const GgufBlock &b) {
    return b.sub == 16 || unit_of(type, 0) != unit_of(type, 16);
}

// e2m1 has a -0, which WMMA distinguishes from 0 (S-004); a GgufBlock's quant has none.
bool is_minus_zero(GgmlType type, const std::byte *block, u32 i) {
    if (type != GgmlType::mxfp4)
        return false;
    const std::byte two = block[1 + i % 16]; // behind the scale: nibbles of i and i + 16
    return (i < 16 ? two & std::byte{15} : two >> 4) == std::byte{8};
}

// A super-block of a row of w, unpacked as in the kernel.
struct Factors {
    f32 scale[2 * blocks]; // of 16 k each: in odd blocks of activations that are 16ths
    f32 least[2 * blocks]; // minimum of each block or of 16 k, in units of least_scale
    f32 least_scale;
    f32 quant[super_k]; // as f16 has them
};

Factors factors_of(GgmlType type, const std::byte *p) {
    const GgmlTypeInfo &info = *find_ggml_type(type);
    Factors f;
    for (u32 at = 0; at < super_k; at += info.elements) {
        const std::byte *block_at = p + at / info.elements * info.bytes;
        const GgufBlock b = gguf_block(type, block_at);
        for (u32 i = 0; i < info.elements; ++i) {
            const u32 in = at + i, block = in / block_k;
            const f32 unit = unit_of(type, in);
            const i32 scale = b.scale[i / b.sub], times = block % 2 ? 16 : 1;
            if (is_whole(type)) { // no quant is -0, which WMMA distinguishes from 0 (S-004)
                const i32 in_quant = by_parity(type) && block % 2 ? 4 : times;
                f.quant[in] = static_cast<f32>(b.quant[i] * scale * in_quant) * 0x1p-24f;
                f.scale[in / 16] = b.d * 0x1p24f * static_cast<f32>(times / in_quant);
            } else {
                const f32 quant =
                    is_minus_zero(type, block_at, i) ? -0.0f : static_cast<f32>(b.quant[i]);
                f.quant[in] = quant * unit * 0x1p-24f;
                const f32 d = b.d * (0x1p24f * static_cast<f32>(times) / unit);
                f.scale[in / 16] = d * static_cast<f32>(scale);
            }
            const f32 least = static_cast<f32>(b.least[i / b.sub]);
            if (b.sub == 16) { // whole numbers; their sum has a factor
                f.least[in / b.sub] = least * 0x1p-20f;
                f.least_scale = -b.dmin * 0x1p20f;
            } else {
                f.least[in / b.sub] = f16_to_f32(f32_to_f16(-b.dmin * least));
                f.least_scale = 1;
            }
        }
    }
    return f;
}

u64 row_bytes(GgmlType type, u32 k) {
    const GgmlTypeInfo *info = find_ggml_type(type);
    return k / info->elements * info->bytes;
}

// Facts of a type, from its first super-block.
GgufBlock block_of(const GgufMidProduct &p) {
    need_size("w", p.w.size(), p.n * row_bytes(p.type, p.k));
    return gguf_block(p.type, p.w.data());
}

class Product {
public:
    explicit Product(const GgufMidProduct &p)
        : p_(p), kind_(wmma_sum(p.gfx)), sixteens_(by_sixteens(p.type, block_of(p))),
          minima_(block_of(p).minima), sum_k_(block_of(p).sub),
          places_(round_up(p.k, super_k)), at_{places_ / super_k, p.tiles},
          order_{order_of(kind_, sixteens_, 0), order_of(kind_, sixteens_, 1)} {
        const u32 elements = find_ggml_type(p.type)->elements;
        if (p.k < super_k || p.k % elements)
            throw Error(fmt::format("k = {}: must be a multiple of {}, and at least {}", p.k,
                                    elements, super_k));
        need_size("a", p.a.size(), at_.bytes());
        halves_.resize(u64{p.m} * places_);
        sums_.resize(u64{p.m} * places_ / sum_k_);
        for (u32 row = 0; row < p.m; ++row) {
            for (u32 i = 0; i < places_; ++i)
                halves_[u64{row} * places_ + i] = f16_to_f32(load<u16>(&p.a[at_.value(row, i)]));
            for (u64 b = 0; b < places_ / sum_k_; ++b) {
                const u64 at = sum_k_ == block_k ? at_.sum(row, b) : at_.fine_sum(row, b);
                sums_[row * (places_ / sum_k_) + b] = f16_to_f32(load<u16>(&p.a[at]));
            }
        }
    }

    std::vector<Factors> factors(u32 n) const {
        const u64 row = row_bytes(p_.type, p_.k), super = row_bytes(p_.type, super_k);
        std::vector<Factors> out;
        for (u64 s = 0; s < at_.supers; ++s) // the last one ends with the row
            out.push_back(factors_of(p_.type, &p_.w[n * row + std::min(s * super, row - super)]));
        return out;
    }

    // The tile's super-blocks, split at the boundaries of workgroups' shares.
    f32 result(u32 row, u32 n, const std::vector<Factors> &w) const {
        const u64 tile = n / p_.columns * ceil_div(p_.m, p_.rows) + row / p_.rows;
        const u64 first = tile * p_.tile_units, last = first + at_.supers;
        f32 total = 0;
        for (u64 from = first; from < last;) {
            const u64 to = std::min(last, (from / p_.share + 1) * p_.share);
            const f32 sum = part(row, from - first, to - first, w);
            total = from == first ? sum : total + sum;
            from = to;
        }
        return std::ldexp(total, shift(row));
    }

    bool minima() const { return minima_; }
    i32 shift(u32 row) const { return load<i32>(&p_.a[at_.shift(row)]); }
    f32 half(u32 row, u32 place) const { return halves_[u64{row} * places_ + place]; }
    // The values that a row of halves represents.
    std::vector<f64> values(u32 row) const {
        const f64 unit = std::ldexp(1.0, shift(row));
        std::vector<f64> out(p_.k);
        for (u32 k = 0; k < p_.k; ++k)
            out[k] = half(row, place(k)) * (place(k) / block_k % 2 ? 16.0 : 1.0) * unit;
        return out;
    }
    u32 sum_k() const { return sum_k_; }
    f32 sum(u32 row, u64 i) const { return sums_[row * (places_ / sum_k_) + i]; }
    u32 place(u32 k) const { return place_at_end(k, p_.k); }

private:
    f32 part(u32 row, u64 from, u64 to, const std::vector<Factors> &w) const {
        f32 acc = 0;
        if (!minima_) {
            for (u64 s = from; s < to; ++s)
                acc = add_blocks(acc, row, s, w[s]);
            return acc;
        }
        // gfx11 subtracts the minima of two super-blocks' blocks together, after the second.
        const u64 together = kind_ == WmmaSum::gfx11 && sum_k_ == block_k ? 2 : 1;
        for (u64 s = from; s < to; ++s) {
            const u64 turn = (s - from) % together;
            if (turn == together - 1)
                acc = take_minima(acc, row, w, s - turn, s);
            acc = add_blocks(acc, row, s, w[s]);
            if (turn < together - 1 && s + 1 == to)
                acc = take_minima(acc, row, w, s, s);
        }
        return acc;
    }

    // Minima of the first super-block use half of a WMMA's k; of the second, if it differs, the
    // other half: on gfx11 the upper eight. On gfx12 there is no second, and the first uses every
    // other four. Minima of 16 k use all of it.
    f32 take_minima(f32 acc, u32 row, const std::vector<Factors> &w, u64 first, u64 second) const {
        std::array<f32, 16> a{}, b{};
        const u32 sums = super_k / sum_k_;
        for (u32 j = 0; j < sums; ++j) {
            const u32 at = kind_ == WmmaSum::gfx11 ? j : j % 8 / 4 * 8 + j / 8 * 4 + j % 4;
            a[at] = sum(row, first * sums + j), b[at] = w[first].least[j];
            if (second != first)
                a[8 + j] = sum(row, second * blocks + j), b[8 + j] = w[second].least[j];
        }
        if (sums > blocks)
            return std::fma(wmma(kind_, a, b, 0), w[first].least_scale, acc);
        return wmma(kind_, a, b, acc);
    }

    f32 add_blocks(f32 acc, u32 row, u64 super, const Factors &w) const {
        std::array<f32, 16> a, b;
        const bool whole = is_whole(p_.type);
        f32 sums[2] = {};
        for (u32 j = 0; j < blocks; ++j) {
            f32 &c = sums[by_parity(p_.type) ? j % 2 : 0];
            c = whole ? c : 0;
            for (u32 step = 0; step < 2; ++step) {
                for (u32 i = 0; i < 16; ++i) {
                    const u32 k = block_k * j + order_[step][i];
                    a[i] = half(row, static_cast<u32>(super * super_k + k));
                    b[i] = w.quant[k];
                }
                c = wmma(kind_, a, b, sixteens_ && !whole ? 0 : c);
                if (!whole && (step || sixteens_))
                    acc = std::fma(c, w.scale[2 * j + step], acc);
            }
        }
        if (whole)
            acc = std::fma(sums[0], w.scale[0], acc);
        return by_parity(p_.type) ? std::fma(sums[1], w.scale[2], acc) : acc;
    }

    const GgufMidProduct &p_;
    WmmaSum kind_;
    bool sixteens_; // sums are of 16 k
    bool minima_;
    u32 sum_k_;  // of one minimum
    u32 places_; // of a row of whole super-blocks: where the last two overlap, a has zeros
    HalvesLayout at_;
    std::array<std::array<u32, 16>, 2> order_;
    std::vector<f32> halves_, sums_;
};

// Quants times their scales, without minima.
std::vector<f64> scaled_quants(const Product &product, u32 k, const std::vector<Factors> &w) {
    std::vector<f64> out(k);
    for (u32 i = 0; i < k; ++i) {
        const u32 place = product.place(i), in = place % super_k;
        const Factors &f = w[place / super_k];
        out[i] = f64{f.quant[in]} / (in / block_k % 2 ? 16 : 1) * f.scale[in / 16];
    }
    return out;
}

// The product of a row of x and one of weights, and its tolerance: for the rounding of weights and
// of f32 sums, and for the rounding of x to f16.
std::pair<f64, f64> sums_of(const f32 *x, const std::vector<f64> &used, const std::vector<f32> &row,
                            const std::vector<f64> &quants) {
    RunningSums c, tolerance;
    for (u32 k = 0; k < row.size(); k += RunningSums::count)
        for (u32 i = 0; i < RunningSums::count; ++i) {
            const f64 v = x[k + i], term = row[k + i] * v, quant = quants[k + i];
            c.add(i, term);
            tolerance.add(i, (std::fabs(term) + std::fabs(quant * v)) * 0x1p-20 +
                                 std::fabs(quant) * std::fabs(v - used[k + i]));
        }
    return {c.total(), tolerance.total()};
}

} // namespace

std::vector<f32> gguf_mid(const GgufMidProduct &p) {
    const Product product(p);
    std::vector<f32> c(u64{p.m} * p.n);
    for (u32 n = 0; n < p.n; ++n) {
        const std::vector<Factors> w = product.factors(n);
        for (u32 m = 0; m < p.m; ++m)
            c[u64{m} * p.n + n] = product.result(m, n, w);
    }
    return c;
}

GgufMidExact gguf_mid_exact(std::span<const f32> x, const GgufMidProduct &p) {
    const Product product(p);
    need_size("x", x.size(), u64{p.m} * p.k);
    GgufMidExact out{std::vector<f64>(u64{p.m} * p.n), std::vector<f64>(u64{p.m} * p.n)};
    std::vector<std::vector<f64>> used;
    for (u32 m = 0; m < p.m; ++m)
        used.push_back(product.values(m));
    std::vector<f32> row(p.k);
    for (u32 n = 0; n < p.n; ++n) {
        dequantize_row(p.type, &p.w[n * row_bytes(p.type, p.k)], p.k, row.data());
        const std::vector<Factors> w = product.factors(n);
        const std::vector<f64> quants = scaled_quants(product, p.k, w);
        for (u32 m = 0; m < p.m; ++m) {
            f64 &c = out.c[u64{m} * p.n + n], &tolerance = out.tolerance[u64{m} * p.n + n];
            const f64 unit = std::ldexp(1.0, product.shift(m));
            std::tie(c, tolerance) = sums_of(&x[u64{m} * p.k], used[m], row, quants);
            const u32 each = product.sum_k(), sums = super_k / each;
            for (u64 b = 0; product.minima() && b < p.k / each; ++b) {
                f64 sum = 0;
                for (u64 i = each * b; i < each * (b + 1); ++i)
                    sum += x[u64{m} * p.k + i];
                const u64 at = product.place(static_cast<u32>(each * b)) / each;
                const Factors &of = w[at / sums];
                const f64 least = std::fabs(f64{of.least[at % sums]} * of.least_scale);
                tolerance += least * std::fabs(sum - product.sum(m, at) * unit) +
                             (least * 0x1p-11 + 0x1p-25) * std::fabs(sum);
            }
        }
    }
    return out;
}

} // namespace nw::ref
