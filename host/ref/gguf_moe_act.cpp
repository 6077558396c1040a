// SPDX-License-Identifier: MIT
#include "ref/gguf_moe_act.h"

#include <cmath>

namespace nw::ref {

SwigluResult swiglu(Swiglu p, f32 g, f32 u) {
    const f64 gate = g > p.limit ? p.limit : g;
    const f64 up = u > p.limit ? p.limit : u < -p.limit ? -p.limit : u;
    const f64 power = f64{p.alpha} * gate;
    const f64 c = (up + 1) * (gate / (1 + std::exp(-power)));
    // In units of 2^-24: the exponent has three roundings, which the power multiplies by the
    // exponent's size; sums and products one each, the power and the reciprocal two. Values below
    // 2^-125 may be 0.
    const f64 relative = (8 + 3 * std::fabs(power)) * 0x1p-24;
    return {c, std::fabs(c) * relative + std::fabs(gate * (up + 1)) * 0x1p-125};
}

} // namespace nw::ref
