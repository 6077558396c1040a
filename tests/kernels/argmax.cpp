// SPDX-License-Identifier: MIT
// argmax: the last of the largest elements, among others that are equal, NaN or infinite.
#include "ref/argmax.h"

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

enum class Kind { random, equal, special };

std::vector<f32> values_of(Test &t, u32 m, u32 k, Kind kind) {
    std::vector<f32> out = check::normal_values(t.rng, u64{m} * k);
    if (kind == Kind::equal)
        for (f32 &x : out)
            x = std::floor(x);
    for (u64 i = 0; i < k && kind == Kind::special; ++i) {
        out[i] = NAN;
        out[k + i] = -INFINITY;
        out[2 * k + i] = i % 3 ? out[2 * k + i] : NAN;
        out[3 * k + i] = i % 5 ? out[3 * k + i] : INFINITY;
    }
    return out;
}

void check_case(Test &t, const Kernel &kernel, u32 m, u32 k, Kind kind = Kind::random, u64 pad = 0,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("m={} k={} kind={} pad={}", m, k, static_cast<int>(kind), pad));
    const Tensor in = check::tensor({k, m, 1, 1}, 4, pad);
    const std::vector<f32> values = values_of(t, m, k, kind);
    const Region x = t.region<u8>(check::placed(in, values)),
                 y = t.region<i32>(std::vector<i32>(m, -77));
    launch(t.modules, kernel,
           ops::Argmax{.m = m,
                       .k = k,
                       .x = static_cast<const f32 *>(x.data()),
                       .y = static_cast<i32 *>(y.data()),
                       .x_stride = in.stride[1]});
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("x", x, where);
    t.guards_clean("y", y, where);
    const std::vector<i32> got = y.read_as<i32>();
    for (u64 row = 0; row < m; ++row)
        if (const i32 want = ref::argmax({&values[row * k], k}); got[row] != want)
            return t.fail(fmt::format("y[{}] is {}, not {}", row, got[row], want), where);
}

} // namespace

CHECK_FAMILY(argmax) {
    const u32 span = 4 * kernel.number("lanes") * kernel.number("pieces");
    if (t.entry)
        return check_case(t, kernel, 3, span + 5);
    check_case(t, kernel, 5, 2 * span + 7, Kind::random, 3);
    check_case(t, kernel, 6, span - 2, Kind::equal);
    check_case(t, kernel, 6, 70, Kind::special, 1);
    if (t.checkers)
        return;
    for (const u32 k : {1u, 2u, 3u, 4u, 5u, 151936u})
        check_case(t, kernel, 3, k);
    check_case(t, kernel, 4, 2 * span + 1, Kind::special);
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_case(t, kernel, 2, shape.k);
}
