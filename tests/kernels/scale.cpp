// SPDX-License-Identifier: MIT
// scale: equal to the host's multiply-add, which rounds once.
#include <bit>
#include <cmath>
#include <fmt/format.h>

#include "check/check.h"
#include "kernels/tensor.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

void check_elements(Test &t, const Kernel &kernel, u32 n, f32 scale, f32 bias, bool in_place,
                    std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("n={} scale={} bias={} in_place={}", n, scale, bias, in_place));
    const std::vector<f32> values = check::hard_values(t.rng, n);
    const Region x = t.region<f32>(values), own = t.region<u8>(std::vector<u8>(4 * u64{n}, 0x5e));
    const Region &y = in_place ? x : own;
    launch(t.modules, kernel,
           ops::Scale{.n = n,
                      .scale = scale,
                      .bias = bias,
                      .x = static_cast<const f32 *>(x.data()),
                      .y = static_cast<f32 *>(y.data())});
    t.modules.device().synchronize();
    ++t.launches;
    if (!in_place)
        t.unchanged("x", x, where);
    t.guards_clean("y", y, where);
    const std::vector<f32> got = y.read_as<f32>();
    for (u64 i = 0; i < n; ++i) {
        const f32 want = std::fma(scale, values[i], bias);
        if (std::isnan(want) ? !std::isnan(got[i])
                             : std::bit_cast<u32>(got[i]) != std::bit_cast<u32>(want))
            return t.fail(
                fmt::format("y[{}] of {:a} is {:a}, not {:a}", i, values[i], got[i], want), where);
    }
}

} // namespace

CHECK_FAMILY(scale) {
    const u32 span = 32 * kernel.number("width") * kernel.number("pieces");
    if (t.entry)
        return check_elements(t, kernel, 5 * span, 0.5f, 0, false);
    for (const u32 n : {1u, span - 1, 4 * span + 1})
        check_elements(t, kernel, n, 0.7f, -0.25f, n % 2);
    if (t.checkers)
        return;
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_elements(t, kernel, shape.n, 0.7f, -0.25f, false);
    for (const f32 scale : {0.0f, -1.0f, 0x1p127f, 0x1p-149f})
        check_elements(t, kernel, 1030, scale, 1.5f, false);
    check_elements(t, kernel, 100003, 3.0f, 0, true);
}
