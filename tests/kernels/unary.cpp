// SPDX-License-Identifier: MIT
// unary: within what its contract states of the f64 reference, over all exponents of f32 and all
// values of f16, with strides in any order, in place and not, and nothing but the rows' own.
#include "ref/unary.h"

#include <bit>
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

struct Case {
    std::array<u32, 4> n;
    u64 pad = 0; // elements between rows
    bool permuted = false, in_place = false;
    ref::UnaryParameters parameters = {
        .alpha = 0.8f, .alpha_p = 0.7f, .beta = 0.5f, .eps = -1e-6f, .low = -1.5f, .high = 2.25f};
};

bool any(std::string_view f, std::initializer_list<std::string_view> of) {
    return std::ranges::find(of, f) != of.end();
}

f64 if_finite(f64 x) { return std::isfinite(x) ? x : 0; }

// The largest error that the contract allows: relative, and what underflow may lose.
f64 bound(std::string_view f, f64 x, f64 want, const ref::UnaryParameters &p) {
    const f64 y = if_finite(std::fabs(want)), tiny = 0x1p-148;
    if (any(f, {"sqr", "leaky_relu"}))
        return y * 0x1p-24 + tiny;
    if (any(f, {"sqrt", "exp", "log"}))
        return y * 0x1p-22 + tiny + (f == "log" ? 0x1p-24 : 0);
    if (any(f, {"elu", "expm1", "tanh", "softplus", "hardsigmoid", "hardswish"}))
        return y * 5 * 0x1p-23 + tiny;
    if (any(f, {"sigmoid", "silu", "gelu_quick", "gelu"})) {
        const f64 z = f == "gelu"         ? 1.596 * (x + 0.044715 * x * x * x)
                      : f == "gelu_quick" ? 1.702 * x
                                          : x;
        return if_finite(y * 0x1p-23 * (2 * std::fabs(z) + 5)) +
               if_finite(0x1p-125 * (1 + std::fabs(x)));
    }
    if (f == "gelu_erf")
        return if_finite(y * 0x1p-23 * (x * x + 10)) + if_finite(0x1p-125 * std::fabs(x));
    if (f == "xielu") {
        const f64 low = std::fabs(p.alpha) * (std::fabs(std::expm1(std::fmin(x, p.eps))) - x);
        const f64 terms = (x > 0 ? std::fabs(p.alpha_p * x * x) : low) + std::fabs(p.beta * x);
        return if_finite(terms) * 0x1p-21 + tiny;
    }
    return any(f, {"sin", "cos"}) ? 0x1p-21 : 0;
}

bool right(f64 y, f64 want, f64 most, bool halves) {
    if (std::isnan(want))
        return std::isnan(y);
    const auto stored = [&](f64 v) {
        const f32 single = static_cast<f32>(v);
        return f64{halves ? f16_to_f32(f32_to_f16(single)) : single};
    };
    return y >= stored(want - most) && y <= stored(want + most);
}

void check_values(Test &t, const Kernel &kernel, const Case &p, const std::vector<f32> &x,
                  const std::vector<f32> &got, bool halves, std::source_location where) {
    const std::string f(kernel.param("function"));
    for (u64 i = 0; i < x.size(); ++i) {
        const f64 want = ref::unary(f, x[i], p.parameters),
                  most = bound(f, x[i], want, p.parameters);
        const bool far = any(f, {"sin", "cos"}) && std::fabs(x[i]) > 0x1p20f;
        if (far && !std::isnan(want) ? std::fabs(got[i]) <= 1 : right(got[i], want, most, halves))
            continue;
        return t.fail(fmt::format("y[{}] of {:a} = {} is {}, not {} within {}", i, x[i], x[i],
                                  got[i], want, most),
                      where);
    }
}

template <class T> T stored(f32 x) {
    if constexpr (sizeof(T) == 2)
        return f32_to_f16(x);
    else
        return x;
}

template <class T> f32 value(T x) {
    if constexpr (sizeof(T) == 2)
        return f16_to_f32(x);
    else
        return x;
}

template <class T>
void check_case(Test &t, const Kernel &kernel, const Case &p, const std::vector<f32> &wanted,
                const char *what, std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("{} f{} pad={} {}", fmt::join(p.n, "x"), 8 * sizeof(T), p.pad, what));
    const Tensor in = check::tensor(p.n, sizeof(T), p.pad, p.permuted),
                 out = p.in_place ? in : check::tensor(p.n, sizeof(T), 2 * p.pad);
    std::vector<T> values;
    std::vector<f32> as_stored;
    for (u64 i = 0; i < in.elements(); ++i) {
        values.push_back(stored<T>(wanted[i % wanted.size()]));
        as_stored.push_back(value(values.back()));
    }
    const Region x = t.region<u8>(check::placed(in, values)),
                 own = t.region<u8>(std::vector<u8>(out.bytes(), Tensor::poison));
    const Region &y = p.in_place ? x : own;
    launch(t.modules, kernel,
           ops::Unary{.function = kernel.param("function"),
                      .y_type = sizeof(T) == 2 ? "f16" : "f32",
                      .k = p.n[0],
                      .n1 = p.n[1],
                      .n2 = p.n[2],
                      .n3 = p.n[3],
                      .alpha = p.parameters.alpha,
                      .alpha_p = p.parameters.alpha_p,
                      .beta = p.parameters.beta,
                      .eps = p.parameters.eps,
                      .low = p.parameters.low,
                      .high = p.parameters.high,
                      .x = x.data(),
                      .y = y.data(),
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
    std::vector<f32> got;
    for (const T one : check::taken<T>(t, "y", out, y, where))
        got.push_back(value(one));
    check_values(t, kernel, p, as_stored, got, sizeof(T) == 2, where);
}

// Every exponent with `count` significands, both signs.
std::vector<f32> all_exponents(Rng &rng, u32 count) {
    std::vector<f32> out;
    for (u32 sign_and_exponent = 0; sign_and_exponent < 512; ++sign_and_exponent)
        for (u32 i = 0; i < count; ++i) {
            const u32 random = static_cast<u32>(rng.below(1 << 23));
            out.push_back(std::bit_cast<f32>(sign_and_exponent << 23 | (i == 0   ? 0
                                                                        : i == 1 ? 0x7fffff
                                                                                 : random)));
        }
    return out;
}

std::vector<f32> all_halves() {
    std::vector<f32> out;
    for (u32 bits = 0; bits < 65536; ++bits)
        out.push_back(f16_to_f32(static_cast<u16>(bits)));
    return out;
}

} // namespace

CHECK_FAMILY(unary) {
    const u32 span = 128 * kernel.number("pieces");
    const std::vector<f32> few = check::normal_values(t.rng, 4096, 3);
    if (t.entry)
        return check_case<f32>(t, kernel, {.n = {span + 5, 3, 1, 1}}, few, "entry");
    check_case<f32>(t, kernel, {.n = {span + 6, 3, 2, 2}, .pad = 3, .permuted = true}, few,
                    "permuted");
    check_case<u16>(t, kernel, {.n = {span + 7, 2, 3, 1}, .pad = 1}, few, "rows");
    check_case<f32>(t, kernel, {.n = {1024, 1, 1, 1}}, all_exponents(t.rng, 2), "exponents");
    check_case<u16>(t, kernel, {.n = {5, 7, 3, 2}, .in_place = true}, few, "in place");
    if (t.checkers)
        return;
    check_case<f32>(t, kernel, {.n = {65, 7, 3, 2}, .pad = 2, .in_place = true}, few, "in place");
    check_case<f32>(t, kernel, {.n = {16384, 1, 1, 1}}, all_exponents(t.rng, 32), "exponents");
    check_case<u16>(t, kernel, {.n = {65536, 1, 1, 1}}, all_halves(), "all halves");
    for (const f32 size : {0.1f, 1.0f, 30.0f, 1000.0f})
        check_case<f32>(t, kernel, {.n = {4096, 1, 1, 1}}, check::normal_values(t.rng, 4096, size),
                        "size");
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_case<u16>(t, kernel, {.n = {shape.k, 2, 1, 1}}, few, "edge");
}
