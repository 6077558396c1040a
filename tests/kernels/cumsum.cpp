// SPDX-License-Identifier: MIT
// cumsum: within what its contract states of the f64 reference, rows in any order, in place and
// not, and nothing but the rows' own.
#include "ref/cumsum.h"

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
    u64 pad = 0;
    bool permuted = false, in_place = false, special = false;
};

void check_row(Test &t, const Kernel &kernel, std::span<const f32> x, const f32 *got,
               std::source_location where) {
    const std::vector<f64> want = ref::cumsum(x);
    const u32 lanes = kernel.number("lanes");
    f64 largest = 0, size = 0;
    for (u64 i = 0; i < x.size(); ++i) {
        size += std::fabs(x[i]);
        largest = std::max(largest, size);
        const f64 most = (i / (4.0 * lanes) + 12 + lanes / 32) * 0x1p-24 * largest;
        if (!std::isfinite(want[i])) {
            if (std::isnan(want[i]) ? !std::isnan(got[i]) : got[i] != want[i])
                return t.fail(fmt::format("y[{}] is {}, not {}", i, got[i], want[i]), where);
            largest = 0, size = 0;
        } else if (!(std::fabs(got[i] - want[i]) <= most))
            return t.fail(fmt::format("y[{}] is {}, not {} within {}", i, got[i], want[i], most),
                          where);
    }
}

void check_case(Test &t, const Kernel &kernel, const Case &p,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("{} pad={} permuted={} in_place={}", fmt::join(p.n, "x"), p.pad, p.permuted,
                        p.in_place));
    const Tensor in = check::tensor(p.n, 4, p.pad, p.permuted),
                 out = p.in_place ? in : check::tensor(p.n, 4, p.pad);
    std::vector<f32> values = check::normal_values(t.rng, in.elements(), 10);
    if (p.special) {
        values[p.n[0] - 1] = NAN;
        values[p.n[0] + p.n[0] / 2] = INFINITY;
    }
    const Region x = t.region<u8>(check::placed(in, values)),
                 own = t.region<u8>(std::vector<u8>(out.bytes(), Tensor::poison));
    const Region &y = p.in_place ? x : own;
    launch(t.modules, kernel,
           ops::Cumsum{.k = p.n[0],
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
    if (!p.in_place)
        t.unchanged("x", x, where);
    const std::vector<f32> got = check::taken<f32>(t, "y", out, y, where);
    for (u64 row = 0; row < in.rows(); ++row)
        check_row(t, kernel, {&values[row * p.n[0]], p.n[0]}, &got[row * p.n[0]], where);
}

} // namespace

CHECK_FAMILY(cumsum) {
    const u32 span = 4 * kernel.number("lanes");
    if (t.entry)
        return check_case(t, kernel, {.n = {span + 5, 3, 1, 1}});
    check_case(t, kernel, {.n = {2 * span + 7, 3, 2, 2}, .pad = 3, .permuted = true});
    check_case(t, kernel, {.n = {span - 2, 5, 1, 1}, .in_place = true});
    check_case(t, kernel, {.n = {span + 33, 3, 2, 1}, .pad = 1, .special = true});
    if (t.checkers)
        return;
    for (const u32 k : {1u, 2u, 3u, 4u, 7u, 20003u})
        check_case(t, kernel, {.n = {k, 3, 1, 1}});
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_case(t, kernel, {.n = {shape.k, 2, 1, 1}});
}
