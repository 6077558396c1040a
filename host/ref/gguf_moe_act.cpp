// SPDX-License-Identifier: MIT
#include "ref/gguf_moe_act.h"

#include <cmath>

namespace nw::ref {

namespace {

// up * sigmoid(power) * gate.
// In units of 2^-24: the exponent has three roundings, which the power multiplies by the exponent's
// size; sums and products one each, the power and the reciprocal two. Values below 2^-125 may be 0.
SwigluResult gated(f64 gate, f64 up, f64 power) {
    const f64 c = up * (gate / (1 + std::exp(-power)));
    const f64 relative = (8 + 3 * std::fabs(power)) * 0x1p-24;
    return {c, std::fabs(c) * relative + std::fabs(gate * up) * 0x1p-125};
}

} // namespace

// g * sigmoid(g) and its product with u may be subnormal.
SwigluResult silu(f32 g, f32 u) {
    SwigluResult out = gated(g, u, g);
    out.tolerance += (std::fabs(f64{u}) + 1) * 0x1p-149;
    return out;
}

SwigluResult swiglu(Swiglu p, f32 g, f32 u) {
    const f64 gate = g > p.limit ? p.limit : g;
    const f64 up = u > p.limit ? p.limit : u < -p.limit ? -p.limit : u;
    return gated(gate, up + 1, f64{p.alpha} * gate);
}

} // namespace nw::ref
