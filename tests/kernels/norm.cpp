// SPDX-License-Identifier: MIT
// norm: within what its contract states of the f64 reference, with strides in any order, in place
// and not, and nothing but the rows' own.
#include "ref/norm.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

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
    std::array<u32, 4> n;
    f32 eps = 1e-6f, size = 1, mean = 0;
    u64 pad = 0; // elements between rows
    bool permuted = false, in_place = false, special = false;
};

std::vector<f32> values_of(Test &t, const Case &p) {
    std::vector<f32> out = check::normal_values(t.rng, u64{p.n[1]} * p.n[2] * p.n[3] * p.n[0]);
    for (f32 &x : out)
        x = (x + p.mean) * p.size;
    if (p.special) {
        out[p.n[0] / 2] = NAN;
        out[p.n[0] + p.n[0] - 1] = INFINITY; // r is 0, of layer NaN
        std::fill_n(&out[2 * p.n[0]], p.n[0], 0.0f);
    }
    return out;
}

// Errors that the contract allows in a row.
struct Bound {
    f64 relative, of_mean = 0;

    Bound(const Kernel &kernel, std::span<const f32> x, const ref::NormRow &row, f32 eps) {
        const f64 lane = x.size() / (4.0 * kernel.number("lanes"));
        relative = 0x1p-22 + (lane + 13) * 0x1p-25 + 0x1p-23;
        if (kernel.param("function") != "layer")
            return;
        f64 variance = eps;
        for (const f32 one : x) {
            of_mean += std::fabs(one) / x.size() * (lane + 14) * 0x1p-24;
            variance += (one - row.mean) * (one - row.mean) / x.size();
        }
        relative += of_mean > 0 ? of_mean * of_mean / variance : 0;
    }
    f64 of(f64 y, f64 r) const {
        return std::fabs(y) * relative + of_mean * r + 0x1p-148 * (1 + r);
    }
};

void check_values(Test &t, const Kernel &kernel, const Case &p, const std::vector<f32> &x,
                  const std::vector<f32> &got, std::source_location where) {
    const u64 k = p.n[0];
    for (u64 row = 0; row < x.size() / k; ++row) {
        const std::span<const f32> own(&x[row * k], k);
        const ref::NormRow want = ref::norm_row(kernel.param("function"), own, p.eps);
        const Bound bound(kernel, own, want, p.eps);
        for (u64 i = 0; i < k; ++i) {
            const f64 y = got[row * k + i], most = bound.of(want.y[i], want.r);
            if (std::isnan(want.y[i]) ? std::isnan(y) : std::fabs(y - want.y[i]) <= most)
                continue;
            return t.fail(fmt::format("y of row {}, [{}], is {}, not {} within {}", row, i, y,
                                      want.y[i], most),
                          where);
        }
    }
}

void check_case(Test &t, const Kernel &kernel, const Case &p, const char *what,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("{} pad={} {}", fmt::join(p.n, "x"), p.pad, what));
    const Tensor in = check::tensor(p.n, 4, p.pad, p.permuted),
                 out = p.in_place ? in : check::tensor(p.n, 4, 2 * p.pad);
    const std::vector<f32> values = values_of(t, p);
    const Region x = t.region<u8>(check::placed(in, values)),
                 own = t.region<u8>(std::vector<u8>(out.bytes(), Tensor::poison));
    const Region &y = p.in_place ? x : own;
    launch(t.modules, kernel,
           ops::Norm{.function = kernel.param("function"),
                     .k = p.n[0],
                     .n1 = p.n[1],
                     .n2 = p.n[2],
                     .n3 = p.n[3],
                     .eps = p.eps,
                     .x = static_cast<const f32 *>(x.data()),
                     .y = static_cast<f32 *>(y.data()),
                     .x_s1 = in.stride[1],
                     .x_s2 = in.stride[2],
                     .x_s3 = in.stride[3],
                     .y_s1 = out.stride[1],
                     .y_s2 = out.stride[2],
                     .y_s3 = out.stride[3]});
    t.modules.device().synchronize();
    ++t.launches;
    if (!p.in_place)
        t.unchanged("x", x, where);
    check_values(t, kernel, p, values, check::taken<f32>(t, "y", out, y, where), where);
}

} // namespace

CHECK_FAMILY(norm) {
    const u32 span = 4 * kernel.number("lanes") * kernel.number("pieces");
    if (t.entry)
        return check_case(t, kernel, {.n = {span + 5, 3, 1, 1}}, "entry");
    check_case(t, kernel, {.n = {2 * span + 7, 3, 2, 1}, .pad = 3}, "three spans");
    check_case(t, kernel, {.n = {span - 2, 2, 3, 2}, .mean = 3, .pad = 1, .permuted = true},
               "permuted");
    check_case(t, kernel, {.n = {span + 70, 2, 2, 1}, .pad = 5, .in_place = true}, "in place");
    check_case(t, kernel, {.n = {130, 4, 1, 1}, .special = true}, "special values");
    if (t.checkers)
        return;
    for (const f32 size : {0x1p40f, 0x1p-40f, 0.0f})
        check_case(t, kernel, {.n = {67, 5, 1, 1}, .size = size}, "size");
    check_case(t, kernel, {.n = {200, 3, 1, 1}, .eps = 10}, "eps");
    check_case(t, kernel, {.n = {200, 3, 1, 1}, .eps = 0, .mean = 1000}, "far from 0");
    check_case(t, kernel, {.n = {2, 7, 1, 1}}, "short");
    check_case(t, kernel, {.n = {40963, 2, 1, 1}}, "a group of channels");
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_case(t, kernel, {.n = {shape.k, 2, 1, 1}}, "edge");
}
