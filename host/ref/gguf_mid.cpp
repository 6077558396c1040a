// SPDX-License-Identifier: MIT
#include "ref/gguf_mid.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/half.h"
#include "formats/words.h"
#include "ref/gguf.h"
#include "ref/gguf_halves.h"
#include "ref/need_size.h"

namespace nw::ref {

namespace {

constexpr u32 super_k = 256, block_k = 32, blocks = super_k / block_k;

// A super-block of a row of w, unpacked as in the kernel.
struct Factors {
    f32 scale[2 * blocks]; // of 16 k each: in odd blocks of activations that are 16ths
    f32 least[blocks];     // what is taken off, of q4_K
    f32 quant[super_k];    // as f16 has them
};

Factors factors_of(const BlockQ4_K &b) {
    Factors f;
    const f32 d = f16_to_f32(b.d) * 0x1p24f, dmin = f16_to_f32(b.dmin);
    for (u32 j = 0; j < blocks; ++j) {
        const SubScale s = sub_scale(b, j);
        f.scale[2 * j] = f.scale[2 * j + 1] = d * static_cast<f32>(s.scale);
        f.least[j] = f16_to_f32(f32_to_f16(-dmin * static_cast<f32>(s.min)));
    }
    for (u32 i = 0; i < super_k; ++i) {
        const u32 byte = b.qs[i / 64 * 32 + i % 32];
        f.quant[i] = static_cast<f32>(i / 32 % 2 ? byte & 0xf0 : byte & 0x0f) * 0x1p-24f;
    }
    return f;
}

// The quants of blocks 2 and 3 of each four are in the high nibble.
Factors factors_of(const BlockQ6_K &b) {
    Factors f;
    for (u32 i = 0; i < super_k; ++i) {
        const u32 block = i / 32 % 4, in = i % 32, n = i / 128;
        const u32 nibble = b.ql[64 * n + 32 * (block % 2) + in] >> (4 * (block / 2)) & 15;
        const u32 two = b.qh[32 * n + in] >> (2 * block) & 3;
        const int q = static_cast<int>(nibble | two << 4) - 32;
        f.quant[i] = static_cast<f32>(q) * (block / 2 ? 0x1p-20f : 0x1p-24f);
        const f32 unit = std::ldexp(1.0f, static_cast<int>(24 - 4 * (block / 2) + 4 * (block % 2)));
        f.scale[i / 16] = f16_to_f32(b.d) * unit * static_cast<f32>(b.scales[i / 16]);
    }
    return f;
}

// Eight blocks with one scale each.
template <class Block, class Quant> Factors factors_of(const std::byte *p, const Quant &quant) {
    Factors f;
    for (u32 j = 0; j < blocks; ++j) {
        const auto b = load<Block>(p, j);
        f.scale[2 * j] = f.scale[2 * j + 1] = f16_to_f32(b.d) * (j % 2 ? 0x1p28f : 0x1p24f);
        for (u32 i = 0; i < block_k; ++i)
            f.quant[block_k * j + i] = static_cast<f32>(quant(b, i)) * 0x1p-24f;
    }
    return f;
}

int nibble_less_8(const BlockQ4_0 &b, u32 i) {
    return (i < 16 ? b.qs[i] & 15 : b.qs[i - 16] >> 4) - 8;
}

Factors factors_of(GgmlType type, const std::byte *p) {
    switch (type) {
    case GgmlType::q4_K:
        return factors_of(load<BlockQ4_K>(p));
    case GgmlType::q6_K:
        return factors_of(load<BlockQ6_K>(p));
    case GgmlType::q8_0:
        return factors_of<BlockQ8_0>(p, [](const BlockQ8_0 &b, u32 i) { return int{b.qs[i]}; });
    case GgmlType::q4_0:
        return factors_of<BlockQ4_0>(p, nibble_less_8);
    default:
        throw Error("the type must be q4_K, q6_K, q8_0 or q4_0");
    }
}

u64 super_bytes(GgmlType type) {
    const GgmlTypeInfo *info = find_ggml_type(type);
    return info->bytes * (super_k / info->elements);
}

class Product {
public:
    explicit Product(const GgufMidProduct &p)
        : p_(p), kind_(wmma_sum(p.gfx)),
          sixteens_(p.type == GgmlType::q6_K), at_{p.k / super_k, p.tiles},
          order_{order_of(kind_, sixteens_, 0), order_of(kind_, sixteens_, 1)} {
        if (p.k == 0 || p.k % super_k)
            throw Error(fmt::format("k = {}: must be a multiple of {}", p.k, super_k));
        need_size("a", p.a.size(), at_.bytes());
        need_size("w", p.w.size(), p.n * at_.supers * super_bytes(p.type));
        halves_.resize(u64{p.m} * p.k);
        sums_.resize(u64{p.m} * at_.supers * blocks);
        for (u32 row = 0; row < p.m; ++row) {
            for (u32 k = 0; k < p.k; ++k)
                halves_[u64{row} * p.k + k] = f16_to_f32(load<u16>(&p.a[at_.value(row, k)]));
            for (u64 b = 0; b < at_.supers * blocks; ++b)
                sums_[row * at_.supers * blocks + b] = f16_to_f32(load<u16>(&p.a[at_.sum(row, b)]));
        }
    }

    std::vector<Factors> factors(u32 n) const {
        std::vector<Factors> out;
        for (u64 s = 0; s < at_.supers; ++s)
            out.push_back(factors_of(p_.type, &p_.w[(n * at_.supers + s) * super_bytes(p_.type)]));
        return out;
    }

    // The tile's super-blocks, split at the boundaries of workgroups' shares.
    f32 result(u32 row, u32 n, const std::vector<Factors> &w) const {
        const u64 tile = n / p_.columns * ceil_div(p_.m, p_.rows) + row / p_.rows;
        const u64 first = tile * at_.supers, last = first + at_.supers;
        f32 total = 0;
        for (u64 from = first; from < last;) {
            const u64 to = std::min(last, (from / p_.share + 1) * p_.share);
            const f32 sum = part(row, from - first, to - first, w);
            total = from == first ? sum : total + sum;
            from = to;
        }
        return std::ldexp(total, shift(row));
    }

    i32 shift(u32 row) const { return load<i32>(&p_.a[at_.shift(row)]); }
    f32 half(u32 row, u32 k) const { return halves_[u64{row} * p_.k + k]; }
    f32 sum(u32 row, u64 block) const { return sums_[row * at_.supers * blocks + block]; }

private:
    f32 part(u32 row, u64 from, u64 to, const std::vector<Factors> &w) const {
        f32 acc = 0;
        if (p_.type != GgmlType::q4_K) {
            for (u64 s = from; s < to; ++s)
                acc = add_blocks(acc, row, s, w[s]);
            return acc;
        }
        // gfx11 subtracts the minima of two super-blocks together, after the second.
        const u64 together = kind_ == WmmaSum::gfx11 ? 2 : 1;
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

    // Those of the first have half of a WMMA's k, those of the second, if it is another, the other:
    // on gfx11 the upper eight. On gfx12, which has no second, the first has every other four.
    f32 take_minima(f32 acc, u32 row, const std::vector<Factors> &w, u64 first, u64 second) const {
        std::array<f32, 16> a{}, b{};
        for (u32 j = 0; j < blocks; ++j) {
            const u32 at = kind_ == WmmaSum::gfx11 ? j : j / 4 * 8 + j % 4;
            a[at] = sum(row, first * blocks + j), b[at] = w[first].least[j];
            if (second != first)
                a[8 + j] = sum(row, second * blocks + j), b[8 + j] = w[second].least[j];
        }
        return wmma(kind_, a, b, acc);
    }

    f32 add_blocks(f32 acc, u32 row, u64 super, const Factors &w) const {
        std::array<f32, 16> a, b;
        for (u32 j = 0; j < blocks; ++j) {
            f32 c = 0;
            for (u32 step = 0; step < 2; ++step) {
                for (u32 i = 0; i < 16; ++i) {
                    const u32 k = block_k * j + order_[step][i];
                    a[i] = half(row, static_cast<u32>(super * super_k + k));
                    b[i] = w.quant[k];
                }
                c = wmma(kind_, a, b, sixteens_ ? 0 : c);
                if (step || sixteens_)
                    acc = std::fma(c, w.scale[2 * j + step], acc);
            }
        }
        return acc;
    }

    const GgufMidProduct &p_;
    WmmaSum kind_;
    bool sixteens_; // q6_K's scales are of 16 k
    HalvesLayout at_;
    std::array<std::array<u32, 16>, 2> order_;
    std::vector<f32> halves_, sums_;
};

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
    std::vector<f32> row(p.k);
    for (u32 n = 0; n < p.n; ++n) {
        dequantize_row(p.type, &p.w[u64{n} * (p.k / super_k) * super_bytes(p.type)], p.k,
                       row.data());
        const std::vector<Factors> w = product.factors(n);
        for (u32 m = 0; m < p.m; ++m) {
            f64 &c = out.c[u64{m} * p.n + n], &tolerance = out.tolerance[u64{m} * p.n + n];
            const f64 unit = std::ldexp(1.0, product.shift(m));
            for (u32 i = 0; i < p.k; ++i) {
                const f64 v = x[u64{m} * p.k + i], times = i / block_k % 2 ? 16 : 1;
                const Factors &f = w[i / super_k];
                const f64 quant = f64{f.quant[i % super_k]} / times * f.scale[i % super_k / 16];
                c += row[i] * v;
                // Of the weight's own rounding, and of sums of f32; then of what f16 leaves of v.
                tolerance += (std::fabs(row[i] * v) + std::fabs(quant * v)) * 0x1p-20;
                tolerance += std::fabs(quant) * std::fabs(v - product.half(m, i) * times * unit);
            }
            for (u64 b = 0; p.type == GgmlType::q4_K && b < p.k / block_k; ++b) {
                f64 sum = 0;
                for (u64 i = block_k * b; i < block_k * (b + 1); ++i)
                    sum += x[u64{m} * p.k + i];
                const f64 least = std::fabs(f64{w[b / blocks].least[b % blocks]});
                tolerance += least * std::fabs(sum - product.sum(m, b) * unit) +
                             (least * 0x1p-11 + 0x1p-25) * std::fabs(sum);
            }
        }
    }
    return out;
}

} // namespace nw::ref
