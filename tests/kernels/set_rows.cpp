// SPDX-License-Identifier: MIT
// set_rows: to the bit what the reference quantizes, at indices out of order and outside, for lists
// that repeat, strides in any order, and rows that stay as they are.
#include <cmath>
#include <fmt/format.h>

#include "base/half.h"
#include "check/check.h"
#include "kernels/gguf_case.h"
#include "kernels/tensor.h"
#include "ref/rows.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Region;
using check::Tensor;
using check::Test;

namespace {

struct Case {
    u32 k;
    std::array<u32, 3> n;
    u32 y_rows;
    std::array<u32, 2> lists;
    u64 pad = 0; // elements between rows of x, bytes between those of y
    bool permuted = false, by_index = true, wide = true;
};

const GgmlTypeInfo &type_of(const Kernel &kernel) { return *find_ggml_type(kernel.param("type")); }

// Different ones in each list, some outside; of 64 bits also with a low word that is inside.
std::vector<i64> any_indices(Rng &rng, const Case &p) {
    std::vector<i64> out;
    for (u32 list = 0; list < p.lists[0] * p.lists[1]; ++list) {
        std::vector<i64> rows(std::max(p.y_rows, p.n[0]));
        for (u64 i = 0; i < rows.size(); ++i)
            rows[i] = static_cast<i64>(i);
        for (u64 i = rows.size(); i > 1 && p.by_index; --i)
            std::swap(rows[i - 1], rows[rng.below(static_cast<u32>(i))]);
        const i64 outside[] = {-1, p.y_rows, p.wide ? i64{1} << 32 : -7,
                               p.wide ? -(i64{1} << 40) : -0x7fffffff - 1};
        for (u32 i = 0; i < p.n[0]; ++i)
            out.push_back(p.by_index && rng.below(8) == 0 ? outside[rng.below(4)] : rows[i]);
    }
    return out;
}

// A block of zeros of both signs, of one value, of a peak of both signs, of halves between quants.
void make_block(Rng &rng, std::span<f32> x) {
    const f32 size = std::ldexp(1.0f, static_cast<int>(rng.below(60)) - 30);
    const u32 kind = rng.below(8);
    for (u64 i = 0; i < x.size(); ++i) {
        const f32 sign = rng.below(2) ? 1.0f : -1.0f;
        x[i] = kind == 0   ? sign * 0.0f
               : kind == 1 ? size
               : kind == 2 ? sign * size
               : kind == 3 ? size * static_cast<f32>(static_cast<i32>(rng.below(511)) - 255) / 254
               : kind == 4 ? size * std::fabs(rng.normal())
                           : size * rng.normal();
    }
    if (kind == 5)
        x[rng.below(static_cast<u32>(x.size()))] = -x[0];
}

std::vector<f32> any_values(Rng &rng, u64 count, bool blocks) {
    if (!blocks)
        return check::hard_values(rng, count);
    std::vector<f32> out = check::gguf_activations(rng, count);
    for (u64 i = 0; i < count; i += 32)
        if (rng.below(4))
            make_block(rng, std::span(out).subspan(i, 32));
    for (u64 i = 0; i < count; i += 32) { // 1 / d is finite
        const std::span<f32> block = std::span(out).subspan(i, 32);
        if (std::ranges::all_of(block, [](f32 v) { return std::fabs(v) < 0x1p-120f; }))
            std::ranges::fill(block, 0.0f);
    }
    return out;
}

bool both_nan(const GgmlTypeInfo &type, const std::byte *a, const std::byte *b) {
    u16 x, y;
    std::memcpy(&x, a, 2), std::memcpy(&y, b, 2);
    const auto nan = [&](u16 h) {
        return std::isnan(type.id == GgmlType::f16 ? f16_to_f32(h) : bf16_to_f32(h));
    };
    return type.elements == 1 && type.bytes == 2 && nan(x) && nan(y);
}

void check_blocks(Test &t, const GgmlTypeInfo &type, std::span<const std::byte> got,
                  std::span<const std::byte> want, std::source_location where) {
    for (u64 at = 0; at < want.size(); at += type.bytes)
        for (u64 i = at; i < at + type.bytes; ++i)
            if (got[i] != want[i] && !both_nan(type, &got[at], &want[at]))
                return t.fail(fmt::format("y, block {}, byte {} is {:02x}, not {:02x}",
                                          at / type.bytes, i - at, static_cast<u8>(got[i]),
                                          static_cast<u8>(want[i])),
                              where);
}

template <class X, class Index>
void check_case(Test &t, const Kernel &kernel, const Case &p, std::source_location where) {
    t.shape(fmt::format("k={} n={}x{}x{} y_rows={} lists={}x{} pad={} permuted={} by_index={} "
                        "wide={}",
                        p.k, p.n[2], p.n[1], p.n[0], p.y_rows, p.lists[1], p.lists[0], p.pad,
                        p.permuted, p.by_index, p.wide));
    const GgmlTypeInfo &type = type_of(kernel);
    const u32 bytes = p.k / type.elements * type.bytes;
    const Tensor in = check::tensor({p.k, p.n[0], p.n[1], p.n[2]}, sizeof(X), p.pad, p.permuted);
    const Tensor lists = check::tensor({1, p.n[0], p.lists[0], p.lists[1]}, sizeof(Index),
                                       p.pad ? 1 : 0, p.permuted);
    const Tensor matrices = check::tensor({bytes, p.y_rows, p.n[1], p.n[2]}, 1, p.pad, p.permuted);
    std::vector<f32> values = any_values(t.rng, in.elements(), type.elements > 1);
    const std::vector<i64> indices = any_indices(t.rng, p);
    std::vector<std::byte> want(matrices.elements(), std::byte{0x77}); // rows that stay
    const Region y = t.region<u8>(check::placed(matrices, want));
    std::vector<X> stored;
    for (f32 &v : values) {
        if constexpr (sizeof(X) == 2)
            v = f16_to_f32(stored.emplace_back(f32_to_f16(v)));
        else
            stored.push_back(v);
    }
    std::vector<Index> narrow(indices.begin(), indices.end());
    const Region x = t.region<u8>(check::placed(in, stored)),
                 ids = t.region<u8>(check::placed(lists, narrow));
    launch(t.modules, kernel,
           ops::SetRows{.type = kernel.param("type"),
                        .x_type = kernel.param("x_type"),
                        .ids_type = sizeof(Index) == 8 ? "i64" : "i32",
                        .k = p.k,
                        .n1 = p.n[0],
                        .n2 = p.n[1],
                        .n3 = p.n[2],
                        .y_rows = p.y_rows,
                        .ids_n2 = p.lists[0],
                        .ids_n3 = p.lists[1],
                        .x = x.data(),
                        .ids = p.by_index ? ids.data() : nullptr,
                        .y = y.data(),
                        .x_s1 = in.stride[1],
                        .x_s2 = in.stride[2],
                        .x_s3 = in.stride[3],
                        .y_s1 = matrices.stride[1],
                        .y_s2 = matrices.stride[2],
                        .y_s3 = matrices.stride[3],
                        .ids_s1 = lists.stride[1],
                        .ids_s2 = lists.stride[2],
                        .ids_s3 = lists.stride[3]});
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("x", x, where);
    t.unchanged("ids", ids, where);
    ref::set_rows(type.id, values, indices, p.lists, want, {p.k, p.n, p.y_rows});
    check_blocks(t, type, check::taken<std::byte>(t, "y", matrices, y, where), want, where);
}

void check_rows(Test &t, const Kernel &kernel, const Case &p,
                std::source_location where = std::source_location::current()) {
    if (kernel.param("x_type") == "f16")
        p.wide ? check_case<u16, i64>(t, kernel, p, where)
               : check_case<u16, i32>(t, kernel, p, where);
    else
        p.wide ? check_case<f32, i64>(t, kernel, p, where)
               : check_case<f32, i32>(t, kernel, p, where);
}

} // namespace

CHECK_FAMILY(set_rows) {
    const u32 block = type_of(kernel).elements;
    const u32 k = 256 + (block == 1 ? 7 : block);
    if (t.entry)
        return check_rows(t, kernel, {.k = k, .n = {3, 1, 1}, .y_rows = 4, .lists = {1, 1}});
    check_rows(t, kernel,
               {.k = k, .n = {5, 4, 3}, .y_rows = 7, .lists = {2, 1}, .pad = 6, .permuted = true});
    check_rows(t, kernel,
               {.k = 64, .n = {6, 2, 2}, .y_rows = 9, .lists = {2, 2}, .pad = 1, .wide = false});
    check_rows(t, kernel,
               {.k = k, .n = {5, 1, 2}, .y_rows = 6, .lists = {1, 2}, .by_index = false});
    if (t.checkers)
        return;
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_rows(t, kernel,
                   {.k = (shape.k + block - 1) / block * block,
                    .n = {3, 1, 1},
                    .y_rows = 3,
                    .lists = {1, 1}});
    check_rows(t, kernel, {.k = 1024, .n = {64, 2, 1}, .y_rows = 64, .lists = {1, 1}});
    check_rows(t, kernel,
               {.k = 32, .n = {300, 1, 1}, .y_rows = 300, .lists = {1, 1}, .wide = false});
    if (block == 1)
        for (u32 least = 1; least < 6; ++least)
            check_rows(t, kernel,
                       {.k = least, .n = {3, 2, 1}, .y_rows = 5, .lists = {1, 1}, .pad = 3});
}
