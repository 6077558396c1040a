// SPDX-License-Identifier: MIT
// How far results of attention may be off: nibblewave.h has it in words.
#pragma once
#include <string>

#include "ref/attn_forward.h"

namespace nw::check {

// Bound of each o, [b, sq, h, d], before it is rounded to the dtype.
std::vector<f64> attention_bounds(Dtype, const ref::AttnResult &exact, u32 sq, u32 h, u32 d);

// The first error of lse, as text; empty if there is none.
std::string lse_difference(Dtype, const ref::AttnResult &exact, std::span<const f32> lse);

} // namespace nw::check
