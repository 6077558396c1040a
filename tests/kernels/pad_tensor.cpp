// SPDX-License-Identifier: MIT
// pad_tensor: the reference to the bit, of x at strides in any order, repeated, wrapped around,
// between diagonals, and none.
#include "ref/pad_tensor.h"

#include <bit>
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
    ref::Padding p;
    u64 pad = 0; // elements between rows
    bool permuted = false, none = false, in_place = false;
};

void check_case(Test &t, const Kernel &kernel, const Case &c, const char *what,
                std::source_location where = std::source_location::current()) {
    const ref::Padding &p = c.p;
    t.shape(fmt::format("{} of {} at {} wrap={} {}", fmt::join(p.n, "x"), fmt::join(p.x_n, "x"),
                        fmt::join(p.at, ","), p.wrap, what));
    const Tensor in = check::tensor(p.x_n, 4, c.pad, c.permuted),
                 out = c.in_place ? in : check::tensor(p.n, 4, c.pad);
    const std::vector<f32> values = check::hard_values(t.rng, c.none ? 0 : in.elements());
    const Region x = t.region<u8>(c.none ? std::vector<u8>(4) : check::placed(in, values)),
                 own = t.region<u8>(std::vector<u8>(out.bytes(), Tensor::poison));
    const Region &y = c.in_place ? x : own;
    launch(t.modules, kernel,
           ops::PadTensor{.n0 = p.n[0],
                          .n1 = p.n[1],
                          .n2 = p.n[2],
                          .n3 = p.n[3],
                          .x_n0 = p.x_n[0],
                          .x_n1 = p.x_n[1],
                          .x_n2 = p.x_n[2],
                          .x_n3 = p.x_n[3],
                          .at0 = p.at[0],
                          .at1 = p.at[1],
                          .at2 = p.at[2],
                          .at3 = p.at[3],
                          .wrap = p.wrap,
                          .first = static_cast<u32>(p.first),
                          .count = static_cast<u32>(p.count),
                          .value = p.value,
                          .increment = p.increment,
                          .x = c.none ? nullptr : x.data(),
                          .y = y.data(),
                          .x_s0 = 4,
                          .x_s1 = in.stride[1],
                          .x_s2 = in.stride[2],
                          .x_s3 = in.stride[3],
                          .y_s0 = 4,
                          .y_s1 = out.stride[1],
                          .y_s2 = out.stride[2],
                          .y_s3 = out.stride[3]});
    t.modules.device().synchronize();
    ++t.launches;
    if (!c.in_place)
        t.unchanged("x", x, where);
    const std::vector<f32> got = check::taken<f32>(t, "y", out, y, where),
                           want = ref::pad_tensor(p, values);
    for (u64 i = 0; i < want.size(); ++i)
        if (std::bit_cast<u32>(got[i]) != std::bit_cast<u32>(want[i]))
            return t.fail(fmt::format("y[{}] is {:a}, not {:a}", i, got[i], want[i]), where);
}

} // namespace

CHECK_FAMILY(pad_tensor) {
    const u32 lanes = 32 * kernel.number("waves");
    if (t.entry)
        return check_case(t, kernel, {{.n = {9, 4, 2, 1}, .x_n = {5, 3, 2, 1}, .at = {2, 1}}},
                          "entry");
    check_case(t, kernel,
               {.p = {.n = {lanes + 3, 5, 3, 2},
                      .x_n = {lanes, 4, 2, 1},
                      .at = {1, 1, 0, 1},
                      .value = -1.5f},
                .pad = 3,
                .permuted = true},
               "padded");
    check_case(t, kernel,
               {.p = {.n = {40, 5, 4, 3}, .x_n = {17, 5, 3, 2}, .at = {17, 2, 1, 0}, .wrap = true},
                .pad = 1},
               "wrapped");
    check_case(t, kernel,
               {.p = {.n = {19, 21, 2, 1}, .x_n = {19, 21, 2, 1}, .first = 20, .value = -INFINITY}},
               "upper triangle");
    check_case(t, kernel,
               {.p = {.n = {30, 7, 2, 2}, .x_n = {30, 7, 2, 2}, .count = 12}, .in_place = true},
               "lower, in place");
    check_case(t, kernel,
               {.p = {.n = {300, 2, 1, 1}, .x_n = {1, 1, 1, 1}, .value = 3, .increment = 0.25f},
                .none = true},
               "ramp");
    if (t.checkers)
        return;
    check_case(t, kernel,
               {.p = {.n = {13, 13, 3, 1}, .x_n = {13, 13, 3, 1}, .first = 12, .count = 1}},
               "diagonal");
    check_case(t, kernel, {.p = {.n = {5, 1, 1, 1}, .x_n = {9, 1, 1, 1}, .at = {7}}}, "outside");
    for (const u32 n : {1u, lanes - 1, 2 * lanes, 2 * lanes + 1})
        check_case(t, kernel, {.p = {.n = {n, 1, 2, 1}, .x_n = {n, 1, 2, 1}}}, "all");
}
