// SPDX-License-Identifier: MIT
// soft_max: within what its contract states of the f64 reference; masks of both types, repeated and
// not, ALiBi, sinks, rows apart and in place, and hidden rows.
#include "ref/soft_max.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

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

enum class Mask { none, f32, f16 };

struct Case {
    ref::Shape n; // k, queries, heads, sequences
    Mask mask = Mask::none;
    u32 mask_n2 = 1, mask_n3 = 1;
    bool sinks = false, in_place = false, permuted = false;
    f32 scale = 1, max_bias = 0, size = 1;
    u64 pad = 0;          // elements between rows
    bool special = false; // rows with NaN and infinities
    u32 hidden = 3;       // on average the mask hides one key of `hidden`; 1: all
};

struct Values {
    std::vector<f32> x, mask, sinks;
};

Values values_of(Test &t, const Case &p) {
    const u64 rows = u64{p.n[1]} * p.n[2] * p.n[3], k = p.n[0];
    Values out{check::normal_values(t.rng, rows * k, p.size), {}, {}};
    if (p.mask != Mask::none)
        out.mask = check::normal_values(t.rng, u64{p.n[1]} * p.mask_n2 * p.mask_n3 * k);
    for (f32 &one : out.mask) {
        one = t.rng.below(p.hidden) == 0 ? -INFINITY : one;
        one = p.mask == Mask::f16 ? f16_to_f32(f32_to_f16(one)) : one;
    }
    if (p.sinks)
        out.sinks = check::normal_values(t.rng, p.n[2], 3);
    if (!p.special)
        return out;
    out.x[k / 2] = NAN;          // the whole row is
    out.x[k + k - 1] = INFINITY; // so is this
    for (u64 i = 0; i < k; ++i)  // and this
        out.x[2 * k + i] = -INFINITY;
    out.x[3 * k] = -INFINITY; // 0
    out.x[4 * k] = 1e30f;     // 1, others 0
    return out;
}

// Largest |z| of a row, by which its errors are measured, and the largest z or sink.
struct Sizes {
    f64 largest = 0, most = -INFINITY;
};

Sizes sizes_of(std::span<const f64> z, f64 sink) {
    Sizes out{0, sink};
    for (const f64 one : z) {
        out.largest = std::isfinite(one) ? std::fmax(out.largest, std::fabs(one)) : out.largest;
        out.most = std::fmax(out.most, one);
    }
    return out;
}

void check_values(Test &t, const Kernel &kernel, const ref::SoftMax &p, const std::vector<f32> &got,
                  std::source_location where) {
    const std::vector<f64> z = ref::soft_max_logits(p), want = ref::soft_max(p);
    const u64 k = p.n[0];
    for (u64 row = 0; row < want.size() / k; ++row) {
        const f64 sink = p.sinks.empty() ? -INFINITY : p.sinks[row / p.n[1] % p.n[2]];
        const Sizes sizes = sizes_of({&z[row * k], k}, sink);
        const f64 common = 2 * sizes.largest + (p.sinks.empty() ? 0 : 2 * std::fabs(sink)) +
                           k / (4.0 * kernel.number("lanes")) + 20;
        for (u64 i = row * k; i < (row + 1) * k; ++i) {
            const f64 apart = std::isfinite(z[i]) ? 2 * std::fabs(z[i] - sizes.most) : 0;
            const f64 most = want[i] * 0x1p-23 * (common + apart) + 0x1p-125;
            if (std::isnan(want[i]) ? std::isnan(got[i]) : std::fabs(got[i] - want[i]) <= most)
                continue;
            return t.fail(fmt::format("y of row {}, [{}], z {}, is {}, not {} within {}", row,
                                      i % k, z[i], got[i], want[i], most),
                          where);
        }
    }
}

void check_case(Test &t, const Kernel &kernel, const Case &p, const char *what,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("{} mask {} {}x{} {}", fmt::join(p.n, "x"), static_cast<int>(p.mask),
                        p.mask_n3, p.mask_n2, what));
    const Values values = values_of(t, p);
    const u64 size = p.mask == Mask::f16 ? 2 : 4;
    const Tensor in = check::tensor(p.n, 4, p.pad, p.permuted),
                 of_mask = check::tensor({p.n[0], p.n[1], p.mask_n2, p.mask_n3}, size, 2 * p.pad),
                 out = p.in_place ? in : check::tensor(p.n, 4, p.pad + 1);
    std::vector<u16> halves;
    for (const f32 one : values.mask)
        halves.push_back(f32_to_f16(one));
    const Region x = t.region<u8>(check::placed(in, values.x)),
                 mask = t.region<u8>(p.mask == Mask::none  ? std::vector<u8>{}
                                     : p.mask == Mask::f16 ? check::placed(of_mask, halves)
                                                           : check::placed(of_mask, values.mask)),
                 sinks = t.region<f32>(values.sinks),
                 own = t.region<u8>(std::vector<u8>(out.bytes(), Tensor::poison));
    const Region &y = p.in_place ? x : own;
    launch(t.modules, kernel,
           ops::SoftMax{.mask_type = p.mask == Mask::f16 ? "f16" : "f32",
                        .k = p.n[0],
                        .n1 = p.n[1],
                        .n2 = p.n[2],
                        .n3 = p.n[3],
                        .mask_n2 = p.mask_n2,
                        .mask_n3 = p.mask_n3,
                        .scale = p.scale,
                        .max_bias = p.max_bias,
                        .x = static_cast<const f32 *>(x.data()),
                        .mask = p.mask == Mask::none ? nullptr : mask.data(),
                        .sinks = p.sinks ? static_cast<const f32 *>(sinks.data()) : nullptr,
                        .y = static_cast<f32 *>(y.data()),
                        .x_s1 = in.stride[1],
                        .x_s2 = in.stride[2],
                        .x_s3 = in.stride[3],
                        .y_s1 = out.stride[1],
                        .y_s2 = out.stride[2],
                        .y_s3 = out.stride[3],
                        .mask_s = of_mask.stride[1],
                        .mask_h = of_mask.stride[2],
                        .mask_b = of_mask.stride[3]});
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("mask", mask, where);
    t.unchanged("sinks", sinks, where);
    if (!p.in_place)
        t.unchanged("x", x, where);
    check_values(t, kernel,
                 {.n = p.n,
                  .x = values.x,
                  .mask = values.mask,
                  .mask_n2 = p.mask_n2,
                  .mask_n3 = p.mask_n3,
                  .sinks = values.sinks,
                  .scale = p.scale,
                  .max_bias = p.max_bias},
                 check::taken<f32>(t, "y", out, y, where), where);
}

} // namespace

CHECK_FAMILY(soft_max) {
    const u32 span = 4 * kernel.number("lanes") * kernel.number("pieces");
    if (t.entry)
        return check_case(t, kernel, {.n = {span + 5, 3, 1, 1}, .mask = Mask::f16}, "entry");
    check_case(t, kernel, {.n = {2 * span + 7, 3, 2, 1}, .size = 5, .pad = 3}, "three spans");
    check_case(t, kernel,
               {.n = {span + 2, 2, 6, 2},
                .mask = Mask::f16,
                .mask_n2 = 3,
                .mask_n3 = 2,
                .sinks = true,
                .permuted = true,
                .scale = 0.1f,
                .max_bias = 8,
                .pad = 5},
               "all");
    check_case(t, kernel,
               {.n = {33, 5, 4, 2}, .mask = Mask::f32, .mask_n2 = 2, .in_place = true, .pad = 1},
               "in place");
    check_case(t, kernel, {.n = {70, 6, 1, 1}, .special = true}, "special values");
    check_case(t, kernel, {.n = {span + 9, 2, 2, 1}, .mask = Mask::f32, .hidden = 1}, "hidden");
    check_case(t, kernel, {.n = {40, 2, 2, 1}, .mask = Mask::f16, .sinks = true, .hidden = 1},
               "only sinks");
    if (t.checkers)
        return;
    check_case(t, kernel, {.n = {span, 3, 1, 1}, .sinks = true, .scale = -2, .size = 30}, "large");
    check_case(t, kernel, {.n = {130, 2, 11, 1}, .mask = Mask::f32, .mask_n2 = 11, .max_bias = 100},
               "ALiBi");
    check_case(t, kernel, {.n = {1, 7, 3, 1}, .mask = Mask::f16}, "one key");
    check_case(t, kernel, {.n = {3, 2, 3, 1}, .scale = 0}, "scale 0");
    check_case(t, kernel, {.n = {65539, 1, 2, 1}, .mask = Mask::f16}, "64 K keys");
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_case(t, kernel, {.n = {shape.k, 2, 2, 1}, .mask = Mask::f16}, "edge");
}
