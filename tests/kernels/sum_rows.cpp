// SPDX-License-Identifier: MIT
// sum_rows: sums and means within what the contract states of the f64 reference, with strides in
// any order, and nothing but the rows' own.
#include "ref/sum_rows.h"

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
    u64 pad = 0; // elements between rows
    bool permuted = false, mean = false, special = false;
};

void check_case(Test &t, const Kernel &kernel, const Case &p,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("{} pad={} permuted={} mean={} special={}", fmt::join(p.n, "x"), p.pad,
                        p.permuted, p.mean, p.special));
    const Tensor in = check::tensor(p.n, 4, p.pad, p.permuted),
                 out = check::tensor({1, p.n[1], p.n[2], p.n[3]}, 4, p.pad);
    std::vector<f32> values = check::normal_values(t.rng, in.elements(), 10);
    if (p.special) {
        values[p.n[0] - 1] = NAN;
        values[p.n[0]] = INFINITY;
        values[2 * p.n[0] + 1] = -INFINITY;
    }
    const Region x = t.region<u8>(check::placed(in, values)),
                 y = t.region<u8>(std::vector<u8>(out.bytes(), Tensor::poison));
    launch(t.modules, kernel,
           ops::SumRows{.function = p.mean ? "mean" : "sum",
                        .k = p.n[0],
                        .n1 = p.n[1],
                        .n2 = p.n[2],
                        .n3 = p.n[3],
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
    t.unchanged("x", x, where);
    const std::vector<f32> got = check::taken<f32>(t, "y", out, y, where);
    const f64 relative = (p.n[0] / (4.0 * kernel.number("lanes")) + 14) * 0x1p-24;
    for (u64 row = 0; row < got.size(); ++row) {
        const ref::RowSum sum = ref::row_sum({&values[row * p.n[0]], p.n[0]});
        const f64 divisor = p.mean ? p.n[0] : 1, want = sum.sum / divisor;
        const f64 most = sum.of_sizes / divisor * relative;
        if (std::isnan(want)   ? std::isnan(got[row])
            : std::isinf(want) ? got[row] == want
                               : std::fabs(got[row] - want) <= most)
            continue;
        return t.fail(fmt::format("y[{}] is {}, not {} within {}", row, got[row], want, most),
                      where);
    }
}

} // namespace

CHECK_FAMILY(sum_rows) {
    const u32 span = 4 * kernel.number("lanes") * kernel.number("pieces");
    if (t.entry)
        return check_case(t, kernel, {.n = {span + 5, 3, 1, 1}});
    check_case(t, kernel, {.n = {2 * span + 7, 3, 2, 2}, .pad = 3, .permuted = true});
    check_case(t, kernel, {.n = {span - 2, 5, 1, 1}, .mean = true});
    check_case(t, kernel, {.n = {33, 5, 2, 1}, .pad = 1, .special = true});
    if (t.checkers)
        return;
    for (const u32 k : {1u, 2u, 3u, 4u, 100003u})
        check_case(t, kernel, {.n = {k, 3, 1, 1}, .mean = k % 2 == 0});
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_case(t, kernel, {.n = {shape.k, 2, 1, 1}, .mean = true});
}
