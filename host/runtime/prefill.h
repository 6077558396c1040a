// SPDX-License-Identifier: MIT
// The families prefill_w4a16 and, for a few rows, mid_w4a16, typed: W4A16 (runtime/decode.h) of any
// m, with WMMA. For
//
//     Y[m, n] = sum_k A[m, k] * (q[n, k] - z) * s[n, k / G]  (+ bias[n])
//
// C = Y, or with silu_gate_up C[m, i] = SiLU(Y[m, i]) * Y[m, i + N/2]. Weights are rounded once to
// the dtype, in mid_w4a16 not at all; sums are float, C is rounded to nearest even. Everything is
// checked before anything is launched.
#pragma once
#include <string_view>

#include "base/types.h"
#include "hip/hip.h"
#include "runtime/decode.h"
#include "runtime/modules.h"
#include "runtime/registry.h"

namespace nw {

// No tile has more rows of A or of w.
inline constexpr u32 widest_tile = 256;

// Throws Error naming argument, value, rule and remedy. Knows nothing of the device, nor whether c
// overlaps an input: launch does.
void validate_prefill(const W4A16 &);
// Of these, the rules for m, n, k, group, zeros and silu_gate_up.
void validate_prefill_shape(const W4A16 &);

// Queues the product on the device of `modules`. Throws Error, with nothing launched and c
// untouched, where an argument breaks a rule or no kernel exists.
void launch_prefill(Modules &, const W4A16 &, const hip::Stream & = {});

// The same with a kernel of the caller's choice, which must match dtype, group and zeros.
void launch_prefill(Modules &, const Kernel &, const W4A16 &, const hip::Stream & = {});

} // namespace nw
