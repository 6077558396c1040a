// SPDX-License-Identifier: MIT
#include "ref/unary.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <numbers>
#include <utility>

#include "base/error.h"
#include "ref/glu.h"

namespace nw::ref {

namespace {

using Function = f64 (*)(f64);

f64 sign(f64 x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

f64 step(f64 x) { return x > 0 ? 1 : 0; }

f64 elu(f64 x) { return x > 0 ? x : std::expm1(x); }

f64 sigmoid(f64 x) { return 1 / (1 + std::exp(-x)); }

f64 hard_sigmoid(f64 x) { return std::fmin(1, std::fmax(0, (x + 3) / 6)); }

f64 softplus(f64 x) { return x > 20 ? x : std::log1p(std::exp(x)); }

f64 gelu(f64 x) { return x <= -10 ? 0 : glu_act("geglu", x); }

constexpr std::array<std::pair<std::string_view, Function>, 26> functions = {{
    {"abs", [](f64 x) { return std::fabs(x); }},
    {"sgn", sign},
    {"neg", [](f64 x) { return -x; }},
    {"step", step},
    {"tanh", [](f64 x) { return std::tanh(x); }},
    {"elu", elu},
    {"relu", [](f64 x) { return glu_act("reglu", x); }},
    {"sigmoid", sigmoid},
    {"gelu", gelu},
    {"gelu_quick", [](f64 x) { return glu_act("geglu_quick", x); }},
    {"silu", [](f64 x) { return glu_act("swiglu", x); }},
    {"hardswish", [](f64 x) { return x * hard_sigmoid(x); }},
    {"hardsigmoid", hard_sigmoid},
    {"exp", [](f64 x) { return std::exp(x); }},
    {"expm1", [](f64 x) { return std::expm1(x); }},
    {"gelu_erf", [](f64 x) { return glu_act("geglu_erf", x); }},
    {"softplus", softplus},
    {"floor", [](f64 x) { return std::floor(x); }},
    {"ceil", [](f64 x) { return std::ceil(x); }},
    {"round", [](f64 x) { return std::round(x); }},
    {"trunc", [](f64 x) { return std::trunc(x); }},
    {"sqr", [](f64 x) { return x * x; }},
    {"sqrt", [](f64 x) { return std::sqrt(x); }},
    {"log", [](f64 x) { return std::log(x); }},
    {"sin", [](f64 x) { return std::sin(x); }},
    {"cos", [](f64 x) { return std::cos(x); }},
}};

f64 xielu(f64 x, const UnaryParameters &p) {
    const f64 linear = f64{p.beta} * x;
    return x > 0 ? f64{p.alpha_p} * x * x + linear
                 : (std::expm1(std::fmin(x, f64{p.eps})) - x) * f64{p.alpha} + linear;
}

} // namespace

f64 unary(std::string_view function, f64 x, const UnaryParameters &p) {
    for (const auto &[name, f] : functions)
        if (name == function)
            return f(x);
    if (function == "clamp")
        return std::fmax(std::fmin(x, f64{p.high}), f64{p.low});
    if (function == "leaky_relu")
        return x > 0 ? x : x < 0 ? f64{p.alpha} * x : 0;
    if (function == "xielu")
        return xielu(x, p);
    throw Error(fmt::format("function = {}: asm/unary has none of this name", function));
}

} // namespace nw::ref
