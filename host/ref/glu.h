// SPDX-License-Identifier: MIT
// Gated linear units, in f64.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace nw::ref {

// f(x) of act: swiglu, geglu, geglu_erf, geglu_quick or reglu. Throws Error where act is none.
f64 glu_act(std::string_view act, f64 x);

// y[i] = f(gate[i]) * up[i], or of swiglu_oai, with NaN kept by the clamps:
// (min(max(up, -limit), limit) + 1) * g / (1 + exp(-alpha g)), g = min(gate, limit); of
// swiglu_clamp without the 1 and alpha.
std::vector<f64> glu(std::string_view act, std::span<const f32> gate, std::span<const f32> up,
                     f32 alpha, f32 limit);

} // namespace nw::ref
