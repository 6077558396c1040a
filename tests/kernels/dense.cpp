// SPDX-License-Identifier: MIT
// decode_dense, fma_dense, prefill_dense: within what their contracts state of the f64 reference,
// for matrices in batches, repeated, selected by ids, with strides in any order and tails of every
// size.
#include "ref/dense.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "base/half.h"
#include "check/check.h"
#include "kernels/tensor.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Region;
using check::Tensor;
using check::Test;

namespace {

struct Case {
    ref::DenseShape s;
    u64 pad = 0; // elements between rows
    bool permuted = false, hard = false;
    bool ids = false;
};

f32 rounded(std::string_view dtype, f32 x) {
    return dtype == "f32"   ? x
           : dtype == "f16" ? f16_to_f32(f32_to_f16(x))
                            : bf16_to_f32(f32_to_bf16(x));
}

// Activations of each row have their own size, beyond f16's range in some.
std::vector<f32> activations(Test &t, const Case &p) {
    std::vector<f32> out = check::normal_values(t.rng, u64{p.s.n3} * p.s.a_n2 * p.s.m * p.s.k);
    for (u64 i = 0; i < out.size(); ++i)
        out[i] = std::ldexp(out[i], static_cast<int>(i / p.s.k * 13 % 60) - 30);
    if (p.hard) {
        out[p.s.k - 1] = std::numeric_limits<f32>::infinity();
        out[out.size() - 1] = NAN;
    }
    return out;
}

std::vector<f32> weights(Test &t, const Case &p, std::string_view dtype) {
    std::vector<f32> out = check::normal_values(t.rng, u64{p.s.w_n3} * p.s.w_n2 * p.s.n * p.s.k);
    for (u64 i = 0; i < out.size(); ++i) // subnormals of f16, too
        out[i] = rounded(dtype, std::ldexp(out[i], i % 7 ? -4 : -17));
    if (p.hard)
        out[p.s.k / 2] = -std::numeric_limits<f32>::infinity();
    return out;
}

// As in memory: poison between rows.
std::vector<u8> memory_of(const Tensor &in, const std::vector<f32> &values,
                          std::string_view dtype) {
    if (dtype == "f32")
        return check::placed(in, values);
    std::vector<u16> halves;
    for (const f32 x : values)
        halves.push_back(dtype == "f16" ? f32_to_f16(x) : f32_to_bf16(x));
    return check::placed(in, halves);
}

std::vector<i32> ids_of(Test &t, const Case &p) {
    std::vector<i32> out;
    for (u64 i = 0; p.ids && i < u64{p.s.n3} * p.s.n2; ++i)
        out.push_back(i == 1   ? -1
                      : i == 2 ? static_cast<i32>(p.s.w_n2)
                               : static_cast<i32>(t.rng.below(p.s.w_n2)));
    return out;
}

// Bounds that the contracts state. WMMA: activations are rounded, and infinities may become NaN.
struct Allowed {
    f64 of_terms, of_largest = 0;
    bool wmma = false;
};

Allowed allowed(const Kernel &kernel, u32 k) {
    if (kernel.family != "prefill_dense")
        return {(k + 20) * 0x1p-24};
    const bool f16 = kernel.param("dtype") == "f16";
    return {(k + 20) * 0x1p-23 + (f16 ? 0x1p-11 : 0x1p-14), f16 ? 0x1p-19 : 0, true};
}

bool right(f32 got, f64 want, f64 most, bool wmma) {
    if (std::isnan(want) || std::isinf(want))
        return wmma ? !std::isfinite(got) : std::isnan(want) ? std::isnan(got) : got == want;
    return std::fabs(got - want) <= most;
}

void check_values(Test &t, const Allowed &allow, const Case &p, const ref::DenseResult &want,
                  const std::vector<f32> &got, std::source_location where) {
    constexpr u32 poison = 0x01010101u * Tensor::poison;
    const u64 matrix = u64{p.s.m} * p.s.n;
    for (u64 i = 0; i < got.size(); ++i) {
        const f64 most =
            want.terms[i] * allow.of_terms + want.largest[i] * allow.of_largest + 0x1p-149;
        if (want.skipped[i / matrix] ? std::bit_cast<u32>(got[i]) != poison
                                     : !right(got[i], want.c[i], most, allow.wmma))
            return t.fail(fmt::format("c[{}, {}] of matrix {} is {}, not {} within {}{}",
                                      i % matrix / p.s.n, i % p.s.n, i / matrix, got[i], want.c[i],
                                      most, want.skipped[i / matrix] ? ": must stay" : ""),
                          where);
    }
}

void check_case(Test &t, const Kernel &kernel, const Case &p,
                std::source_location where = std::source_location::current()) {
    const ref::DenseShape &s = p.s;
    const std::string dtype = kernel.param("dtype");
    t.shape(fmt::format("m={} n={} k={} of {}x{}, a_n2={} w {}x{} pad={}{}{}{}", s.m, s.n, s.k,
                        s.n3, s.n2, s.a_n2, s.w_n3, s.w_n2, p.pad, p.permuted ? " permuted" : "",
                        p.hard ? " hard" : "", p.ids ? " ids" : ""));
    const Tensor left = check::tensor({s.k, s.m, s.a_n2, s.n3}, 4, p.pad, p.permuted),
                 right = check::tensor({s.k, s.n, s.w_n2, s.w_n3}, dtype == "f32" ? 4 : 2, p.pad,
                                       p.permuted),
                 out = check::tensor({s.n, s.m, s.n2, s.n3}, 4, p.pad);
    const std::vector<f32> x = activations(t, p), y = weights(t, p, dtype);
    const std::vector<i32> ids = ids_of(t, p);
    const Region a = t.region<u8>(check::placed(left, x)),
                 w = t.region<u8>(memory_of(right, y, dtype)),
                 c = t.region<u8>(std::vector<u8>(out.bytes(), Tensor::poison)),
                 list = t.region<i32>(ids.empty() ? std::vector<i32>{0} : ids);
    launch(t.modules, kernel,
           ops::Dense{.dtype = dtype,
                      .m = s.m,
                      .n = s.n,
                      .k = s.k,
                      .n2 = s.n2,
                      .n3 = s.n3,
                      .a_n2 = s.a_n2,
                      .w_n2 = s.w_n2,
                      .w_n3 = s.w_n3,
                      .a = static_cast<const f32 *>(a.data()),
                      .w = w.data(),
                      .c = static_cast<f32 *>(c.data()),
                      .ids = p.ids ? static_cast<const i32 *>(list.data()) : nullptr,
                      .a_s1 = left.stride[1],
                      .a_s2 = left.stride[2],
                      .a_s3 = left.stride[3],
                      .w_s1 = right.stride[1],
                      .w_s2 = right.stride[2],
                      .w_s3 = right.stride[3],
                      .c_s1 = out.stride[1],
                      .c_s2 = out.stride[2],
                      .c_s3 = out.stride[3],
                      .ids_stride = 4 * u64{s.n2}});
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("a", a, where);
    t.unchanged("w", w, where);
    t.unchanged("ids", list, where);
    check_values(t, allowed(kernel, s.k), p, ref::dense(s, x, y, ids),
                 check::taken<f32>(t, "c", out, c, where), where);
}

// rows: of a, of a tile. columns: of c, of a workgroup.
void check_dense(Test &t, const Kernel &kernel, u32 rows, u32 columns) {
    if (t.entry)
        return check_case(t, kernel, {.s = {.m = rows, .n = columns + 4, .k = 264}});
    check_case(
        t, kernel,
        {.s = {.m = rows, .n = 37, .k = 264, .n2 = 6, .n3 = 4, .a_n2 = 6, .w_n2 = 3, .w_n3 = 2},
         .pad = 4,
         .permuted = true});
    check_case(t, kernel,
               {.s = {.m = 2, .n = 37, .k = 67, .n2 = 4, .n3 = 2, .a_n2 = 2, .w_n2 = 5},
                .pad = 3,
                .ids = true});
    check_case(t, kernel, {.s = {.m = rows + 1, .n = columns + 5, .k = 295}, .hard = true});
    if (t.checkers)
        return;
    check_case(t, kernel, {.s = {.m = 1, .n = 1, .k = 1}});
    check_case(t, kernel, {.s = {.m = 3, .n = 5, .k = 3, .n2 = 2, .a_n2 = 1, .w_n2 = 2}, .pad = 1});
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_case(t, kernel, {.s = {.m = shape.m, .n = shape.n, .k = shape.k}, .pad = 1});
}

} // namespace

CHECK_FAMILY(decode_dense) {
    check_dense(t, kernel, kernel.number("m"), kernel.rows_per_workgroup);
}

CHECK_FAMILY(fma_dense) { check_dense(t, kernel, kernel.number("bm"), kernel.number("bn")); }

CHECK_FAMILY(prefill_dense) { check_dense(t, kernel, kernel.number("bm"), kernel.number("bn")); }
