// SPDX-License-Identifier: MIT
// argsort: every index in its place, both ways, with equal elements and those beyond the numbers.
#include "ref/argsort.h"

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
    u32 m, k, count;
    bool descending = false, hard = false;
    u64 pad = 0;
};

void check_case(Test &t, const Kernel &kernel, const Case &p,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("m={} k={} count={} descending={} hard={} pad={}", p.m, p.k, p.count,
                        p.descending, p.hard, p.pad));
    const Tensor in = check::tensor({p.k, p.m, 1, 1}, 4, p.pad),
                 out = check::tensor({p.count, p.m, 1, 1}, 4, p.pad);
    const std::vector<f32> values = p.hard ? check::hard_values(t.rng, in.elements())
                                           : check::normal_values(t.rng, in.elements());
    const Region x = t.region<u8>(check::placed(in, values)),
                 y = t.region<u8>(std::vector<u8>(out.bytes(), Tensor::poison));
    launch(t.modules, kernel,
           ops::Argsort{.m = p.m,
                        .k = p.k,
                        .count = p.count,
                        .descending = p.descending,
                        .x = static_cast<const f32 *>(x.data()),
                        .y = static_cast<i32 *>(y.data()),
                        .x_stride = in.stride[1],
                        .y_stride = out.stride[1]});
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("x", x, where);
    const std::vector<i32> got = check::taken<i32>(t, "y", out, y, where);
    for (u64 row = 0; row < p.m; ++row) {
        const std::vector<i32> want = ref::argsort({&values[row * p.k], p.k}, p.descending);
        for (u64 i = 0; i < p.count; ++i)
            if (got[row * p.count + i] != want[i])
                return t.fail(
                    fmt::format("y[{},{}] is {}, not {}", row, i, got[row * p.count + i], want[i]),
                    where);
    }
}

} // namespace

CHECK_FAMILY(argsort) {
    const u32 most = 2 * kernel.number("lanes") * kernel.number("pairs");
    if (t.entry)
        return check_case(t, kernel, {.m = 2, .k = most / 2 + 3, .count = 9});
    check_case(t, kernel, {.m = 2, .k = most, .count = most});
    check_case(t, kernel, {.m = 3, .k = 60, .count = 7, .descending = true, .pad = 3});
    check_case(t, kernel, {.m = 3, .k = 130, .count = 130, .hard = true, .pad = 1});
    if (t.checkers)
        return;
    check_case(t, kernel, {.m = 2, .k = most, .count = most, .descending = true, .hard = true});
    for (const u32 k : {1u, 2u, 3u, 31u, 33u, 64u, 65u, most / 2 + 1})
        check_case(t, kernel, {.m = 5, .k = k, .count = k, .descending = k % 2 == 0, .pad = 1});
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_case(t, kernel, {.m = 1, .k = shape.k, .count = shape.k, .descending = true});
}
