// SPDX-License-Identifier: MIT
// One column of gguf_moe_act (asm/gguf_moe_act), from an expert's sums.
//
//     act none     g + bias
//     act silu     (u + bias_up) * G / (1 + e^-G), G = g + bias
//     act swiglu   (clamp(u + bias_up) + 1) * G / (1 + e^(-alpha * G)), G = min(g + bias, limit)
//
// with clamp to [-limit, limit]: gpt-oss has alpha = 1.702, limit = 7. Sums with biases are f32; a
// NaN passes through clamps.
#pragma once
#include "base/types.h"

namespace nw::ref {

struct Swiglu {
    f32 alpha, limit;
};

struct SwigluResult {
    f64 c;
    f64 tolerance; // of f32 arithmetic whose powers and reciprocals are within 1 ulp
};

// From sums with biases.
SwigluResult swiglu(Swiglu, f32 g, f32 u);
SwigluResult silu(f32 g, f32 u);

} // namespace nw::ref
