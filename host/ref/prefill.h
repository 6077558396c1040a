// SPDX-License-Identifier: MIT
// The prefill_w4a16 family in plain double arithmetic:
//
//     Y = decode_w4a16 of any m
//     C[m, n] = Y[m, n], or SiLU(Y[m, i]) * Y[m, i + N/2]
#pragma once
#include <vector>

#include "ref/decode.h"

namespace nw::ref {

struct PrefillResult {
    DecodeResult y;     // [M, N]
    std::vector<f64> c; // [M, N], or [M, N/2]
};

// SiLU(y[m, i]) * y[m, i + N/2] of y [M, N].
std::vector<f64> gated(const std::vector<f64> &y, u64 m, u64 n);

// Throws Error if a span's size does not match the shape.
PrefillResult prefill_w4a16(const DecodeW4A16 &, bool silu_gate_up);

} // namespace nw::ref
