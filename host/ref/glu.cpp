// SPDX-License-Identifier: MIT
#include "ref/glu.h"

#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "base/error.h"
#include "ref/need_size.h"

namespace nw::ref {

namespace {

f64 sigmoid_times(f64 x, f64 z) { return x / (1 + std::exp(-z)); }

f64 at_most(f64 x, f64 limit) { return x > limit ? limit : x; }

f64 oai(f64 gate, f64 up, f64 alpha, f64 limit) {
    const f64 x = at_most(gate, limit), u = -at_most(-at_most(up, limit), limit);
    return sigmoid_times(x, alpha * x) * (u + 1);
}

f64 clamped(f64 gate, f64 up, f64 limit) {
    const f64 x = at_most(gate, limit), u = -at_most(-at_most(up, limit), limit);
    return sigmoid_times(x, x) * u;
}

} // namespace

f64 glu_act(std::string_view act, f64 x) {
    constexpr f64 pi = std::numbers::pi;
    if (act == "swiglu")
        return sigmoid_times(x, x);
    if (act == "geglu_quick")
        return sigmoid_times(x, f64{1.702f} * x);
    if (act == "geglu")
        return sigmoid_times(x, 2 * std::sqrt(2 / pi) * (x + f64{0.044715f} * x * x * x));
    if (act == "geglu_erf") // erfc: 1 + erf loses what is left of it below 0
        return x / 2 * std::erfc(-x / std::numbers::sqrt2);
    if (act == "reglu")
        return x > 0 ? x : 0;
    throw Error(
        fmt::format("act = {}: must be swiglu, geglu, geglu_erf, geglu_quick or reglu", act));
}

std::vector<f64> glu(std::string_view act, std::span<const f32> gate, std::span<const f32> up,
                     f32 alpha, f32 limit) {
    need_size("up", up.size(), gate.size());
    std::vector<f64> y;
    y.reserve(gate.size());
    for (u64 i = 0; i < gate.size(); ++i) {
        const f64 g = gate[i], u = up[i];
        if (act == "swiglu_oai")
            y.push_back(oai(g, u, alpha, limit));
        else if (act == "swiglu_clamp")
            y.push_back(clamped(g, u, limit));
        else if ((act == "geglu" && g <= -10) || (act == "reglu" && !(g > 0)))
            y.push_back(0); // whatever u is
        else
            y.push_back(glu_act(act, g) * u);
    }
    return y;
}

} // namespace nw::ref
