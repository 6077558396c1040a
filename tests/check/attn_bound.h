// SPDX-License-Identifier: MIT
// How far results of attention may be off: nibblewave.h has it in words.
#pragma once
#include <string>

#include "ref/attn_forward.h"

namespace nw::check {

// Of each o, [b, sq, h, d], before it is rounded to the dtype.
std::vector<f64> attention_bounds(Dtype, const ref::AttnResult &exact, u32 sq, u32 h, u32 d);

// What is wrong with lse; empty where nothing is.
std::string lse_difference(Dtype, const ref::AttnResult &exact, std::span<const f32> lse);

} // namespace nw::check
