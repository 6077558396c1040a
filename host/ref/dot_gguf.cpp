// SPDX-License-Identifier: MIT
#include "ref/dot_gguf.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ref/gguf.h"
#include "ref/need_size.h"

namespace nw::ref {

namespace {

constexpr u32 block_k = 32, super_k = 256, super_blocks = super_k / block_k;

// Blocks of a super-block in the order in which they are added: where nibbles hold two blocks with
// one between them, these are neighbours.
constexpr u32 in_order[] = {0, 1, 2, 3, 4, 5, 6, 7}, apart[] = {0, 2, 1, 3, 4, 6, 5, 7};

// sum * scale; no number where the scale is none.
f32 times(i32 sum, f32 scale) {
    return std::isfinite(scale) ? static_cast<f32>(sum) * scale
                                : std::numeric_limits<f32>::quiet_NaN();
}

i32 dot(const i32 *quant, const i8 *q, u32 count) {
    i32 sum = 0;
    for (u32 i = 0; i < count; ++i)
        sum += quant[i] * q[i];
    return sum;
}

// A block of 32 of w, from `first` on in its block, times a block of activations.
f32 add_block(f32 acc, const GgufBlock &w, u32 first, const Q8Block &q8) {
    const u32 sub = std::min(w.sub, block_k);
    for (u32 i = 0; i < block_k; i += sub) {
        const f32 scale = w.d * static_cast<f32>(w.scale[(first + i) / w.sub]);
        acc = std::fma(times(dot(&w.quant[first + i], q8.q + i, sub), scale), q8.d, acc);
    }
    for (u32 i = 0; w.minima && i < block_k; i += sub) {
        const f32 least = w.dmin * static_cast<f32>(w.least[(first + i) / w.sub]);
        acc = sub == block_k ? std::fma(-32 * least, q8.s_32(), acc)
                             : std::fma(-16 * least, q8.half_16(i / sub), acc);
    }
    return acc;
}

class Product {
public:
    explicit Product(const GgufProduct &p) : p_(p), type_(type_of(p)) {
        need_size("tiles", p.tiles.size(), u64{1152} * p.m * ceil_div(p.k, 1024u));
        need_size("w", p.w.size(), u64{p.n} * blocks() * type_.bytes);
    }

    std::vector<GgufBlock> row(u32 n) const {
        std::vector<GgufBlock> out;
        for (u64 b = 0; b < blocks(); ++b)
            out.push_back(gguf_block(p_.type, &p_.w[(n * blocks() + b) * type_.bytes]));
        return out;
    }

    // Sum over super-blocks [first, last); indices past the end are skipped.
    f32 part(std::span<const GgufBlock> row, u32 m, u64 first, u64 last) const {
        const u32 *order = row[0].sub < block_k ? apart : in_order;
        f32 acc = 0;
        for (u64 i = super_blocks * first; i < super_blocks * last; ++i) {
            const u64 b = i / super_blocks * super_blocks + order[i % super_blocks];
            const u64 k = b * block_k;
            if (k < p_.k)
                acc = add_block(acc, row[k / type_.elements], static_cast<u32>(k % type_.elements),
                                q8_block(p_.tiles, m, p_.m, b));
        }
        return acc;
    }

private:
    static GgmlTypeInfo type_of(const GgufProduct &p) {
        const GgmlTypeInfo *info = find_ggml_type(p.type);
        if (!info || !info->decoded || info->elements == 1)
            throw Error(
                fmt::format("the ggml type {}: no product of it here", static_cast<u32>(p.type)));
        if (p.k == 0 || p.k % info->elements)
            throw Error(
                fmt::format("k = {}: {} has blocks of {}", p.k, info->name, info->elements));
        return *info;
    }
    u64 blocks() const { return p_.k / type_.elements; }

    const GgufProduct &p_;
    GgmlTypeInfo type_;
};

} // namespace

std::vector<f32> dot_gguf(const GgufProduct &p, u32 parts) {
    if (parts == 0)
        throw Error("parts = 0: k has at least one");
    const Product product(p);
    const u64 supers = ceil_div(p.k, super_k), of_part = ceil_div<u64>(supers, parts);
    std::vector<f32> c(u64{p.m} * p.n);
    for (u32 n = 0; n < p.n; ++n) {
        const std::vector<GgufBlock> row = product.row(n);
        for (u32 m = 0; m < p.m; ++m) {
            f32 &sum = c[u64{m} * p.n + n];
            sum = product.part(row, m, 0, of_part);
            for (u64 i = 1; i < parts; ++i)
                sum += product.part(row, m, i * of_part, (i + 1) * of_part);
        }
    }
    return c;
}

} // namespace nw::ref
