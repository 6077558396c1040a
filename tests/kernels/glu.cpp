// SPDX-License-Identifier: MIT
// glu: within what its contract states of the f64 reference; matrices apart and as halves of one,
// in place and not, and nothing but the rows' own.
#include "ref/glu.h"

#include <cmath>
#include <fmt/format.h>

#include "check/check.h"
#include "kernels/tensor.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Region;
using check::Tensor;
using check::Test;

namespace {

enum class Place { apart, gate, up };

struct Case {
    u32 m, k;
    u64 pad = 0; // elements between rows
    bool halves = false, swapped = false, hard = false;
    f32 alpha = 1.702f, limit = 7, size = 3;
    Place place = Place::apart;
};

// Infinities and NaN leave no error to allow.
f64 if_finite(f64 x) { return std::isfinite(x) ? x : 0; }

// Error of y that the contract allows: relative to y, and what a factor below 2^-126 may lose.
f64 bound(std::string_view act, const Case &p, f32 gate, f32 up, f64 want) {
    const bool clamped = act == "swiglu_oai" || act == "swiglu_clamp";
    const f64 x = clamped ? std::fmin(gate, p.limit) : gate;
    const f64 z = act == "swiglu" || act == "swiglu_clamp" ? x
                  : act == "swiglu_oai"                    ? x * p.alpha
                  : act == "geglu_quick"                   ? x * 1.702
                                                           : 1.596 * (x + 0.044715 * x * x * x);
    const f64 relative = act == "reglu"       ? 0x1p-24
                         : act == "geglu_erf" ? 0x1p-23 * (x * x + 10)
                                              : 0x1p-23 * (2 * std::fabs(z) + 5);
    const f64 u = clamped ? std::fmin(std::fabs(up), p.limit) + 1 : f64{up};
    return if_finite(std::fabs(want) * relative) + if_finite(0x1p-125 * std::fabs(x * u)) +
           if_finite(0x1p-148 * (1 + std::fabs(u)));
}

bool right(f64 y, f64 want, f64 most, f32 gate) {
    if (std::isnan(want))
        return std::isnan(y);
    if (std::isinf(want)) // half of the smallest gate is 0, and NaN times infinity
        return y == want || (std::isnan(y) && std::fabs(gate) < 0x1p-126f);
    const bool too_large = std::fabs(want) + most > f64{std::numeric_limits<f32>::max()};
    return std::fabs(y - want) <= most || (too_large && std::isinf(y));
}

void check_values(Test &t, const Kernel &kernel, const Case &p, const std::vector<f32> &gate,
                  const std::vector<f32> &up, const std::vector<f32> &got,
                  std::source_location where) {
    const std::string act(kernel.param("act"));
    const std::vector<f64> want = ref::glu(act, gate, up, p.alpha, p.limit);
    for (u64 i = 0; i < want.size(); ++i) {
        const f64 most = bound(act, p, gate[i], up[i], want[i]), y = got[i];
        if (right(y, want[i], most, gate[i]))
            continue;
        return t.fail(fmt::format("y[{},{}] of gate {} and up {} is {}, not {} within {}", i / p.k,
                                  i % p.k, gate[i], up[i], y, want[i], most),
                      where);
    }
}

void check_case(Test &t, const Kernel &kernel, const Case &p, const char *what,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("m={} k={} pad={} {}", p.m, p.k, p.pad, what));
    const Tensor one = check::tensor({p.k, p.m, 1, 1}, 4, p.pad + (p.halves ? p.k : 0)),
                 out =
                     p.place == Place::apart ? check::tensor({p.k, p.m, 1, 1}, 4, p.pad + 4) : one;
    std::vector<f32> gate = p.hard ? check::hard_values(t.rng, one.elements())
                                   : check::normal_values(t.rng, one.elements(), p.size),
                     up = p.hard ? check::hard_values(t.rng, one.elements(), true)
                                 : check::normal_values(t.rng, one.elements(), p.size);
    std::vector<u8> gates = check::placed(one, gate), ups = check::placed(one, up);
    if (p.halves) {
        ups.insert(ups.begin(), 4 * p.k, Tensor::poison);
        gates.resize(ups.size());
        for (u64 row = 0; row < p.m; ++row) // gate's first, then up's
            std::copy_n(&ups[one.offset(row) + 4 * p.k], 4 * p.k,
                        &gates[one.offset(row) + 4 * p.k]);
    }
    const Region first = t.region<u8>(gates), second = t.region<u8>(ups),
                 own = t.region<u8>(std::vector<u8>(out.bytes(), Tensor::poison));
    const Region &y = p.place == Place::gate ? first : p.place == Place::up ? second : own;
    const f32 *left = static_cast<const f32 *>(first.data()),
              *right = p.halves ? left + p.k : static_cast<const f32 *>(second.data());
    if (p.swapped)
        std::swap(left, right), std::swap(gate, up);
    launch(t.modules, kernel,
           ops::Glu{.act = kernel.param("act"),
                    .m = p.m,
                    .k = p.k,
                    .alpha = p.alpha,
                    .limit = p.limit,
                    .gate = left,
                    .up = right,
                    .y = static_cast<f32 *>(y.data()),
                    .gate_stride = one.stride[1],
                    .up_stride = one.stride[1],
                    .y_stride = out.stride[1]});
    t.modules.device().synchronize();
    ++t.launches;
    if (p.place != Place::gate)
        t.unchanged("gate", first, where);
    if (p.place != Place::up)
        t.unchanged("up", second, where);
    check_values(t, kernel, p, gate, up, check::taken<f32>(t, "y", out, y, where), where);
}

} // namespace

CHECK_FAMILY(glu) {
    const u32 span = 128 * kernel.number("pieces");
    if (t.entry)
        return check_case(t, kernel, {.m = 3, .k = 2 * span}, "entry");
    check_case(t, kernel, {.m = 5, .k = span + 4, .pad = 8}, "two spans");
    check_case(t, kernel, {.m = 3, .k = span - 4, .halves = true}, "halves");
    check_case(t, kernel, {.m = 3, .k = 132, .pad = 4, .halves = true, .swapped = true}, "swapped");
    check_case(t, kernel, {.m = 1, .k = 400, .hard = true}, "hard values");
    check_case(t, kernel, {.m = 3, .k = span + 2, .pad = 1}, "a tail alone in a span");
    check_case(t, kernel, {.m = 5, .k = 131, .halves = true, .swapped = true}, "odd halves");
    check_case(t, kernel, {.m = 2, .k = span, .place = Place::gate}, "in gate's place");
    if (t.checkers)
        return;
    check_case(t, kernel, {.m = 2, .k = span, .pad = 4, .place = Place::up}, "in up's place");
    check_case(t, kernel, {.m = 4, .k = 1024, .size = 0.01f}, "small");
    check_case(t, kernel, {.m = 4, .k = 1024, .size = 40}, "large");
    check_case(t, kernel, {.m = 1, .k = 400, .hard = true, .alpha = 0, .limit = INFINITY},
               "no limit");
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_case(t, kernel, {.m = shape.m, .k = shape.k}, "edge");
}
