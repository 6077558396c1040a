// SPDX-License-Identifier: MIT
// The decode_w4a16 family, typed: C[m, n] = sum_k A[m, k] * (q[n, k] - z) * s[n, k / G] (+
// bias[n]), z = z[n, k / G] or 8, fp32 accumulation, C rounded to nearest even. Everything is
// checked before anything is launched. For more than 8 rows: runtime/prefill.h.
#pragma once
#include <string_view>

#include "base/types.h"
#include "hip/hip.h"
#include "runtime/choice.h"
#include "runtime/modules.h"
#include "runtime/registry.h"

namespace nw {

// The rows of activations that decode takes at most.
inline constexpr u32 decode_rows = 8;

// One product, as the kernels take it. Pointers are device memory.
struct W4A16 {
    Dtype dtype;        // of a, s, bias and c
    u32 m, n, k, group; // m, n >= 1; group 32, 64 or 128, k a multiple of it; or in decode per_row,
                        // symmetric only, k >= 32 a multiple of 16
    const void *a;      // [M, K] contiguous, 16-byte aligned
    const void *w;      // int32 [N, K/8] (formats/row_layout.h), 16-byte aligned
    const void *s;      // [N, K/G], or [N, 1] per row; u32 [N, K/G] of Zeros::carrier
    const void *bias;   // [N], or null
    void *c;            // [M, N] contiguous, [M, N/2] with silu_gate_up; overlaps no input
    u64 w_stride, s_stride; // bytes from row to row: multiples of 16 and 2 (carrier: 4), at least a
                            // row
    Zeros zeros = Zeros::eight;
    const void *z = nullptr; // null where zeros are eight, or in the carrier
    u64 z_stride = 0;        // bytes from row to row (packed: of dwords): a multiple of 4; typed: 2
    bool silu_gate_up = false; // runtime/prefill.h only: C[m, i] = SiLU(row i) * row i + N/2 of w
};

// Throws Error naming argument, value, rule and remedy. Knows nothing of the device, nor whether c
// overlaps an input: launch does, once it knows that the product is not too large for HIP.
void validate(const W4A16 &);
// Of these, the rules for m, n, k, group and zeros.
void validate_shape(const W4A16 &);

// Workgroups of a launch over n rows on a device of so many WGPs: no more than fit at once, at most
// `of_wgp` on each, and as few as have the same number of rows each.
u32 grid(const Kernel &, u32 n, u32 wgps, u32 of_wgp = ~0u);

// Queues the product on the device of `modules`. Throws Error, with nothing launched and c
// untouched, where an argument breaks a rule or no kernel exists.
void launch(Modules &, const W4A16 &, const hip::Stream & = {});

// The same with a kernel of the caller's choice, which must match dtype, group, m and zeros.
void launch(Modules &, const Kernel &, const W4A16 &, const hip::Stream & = {});

// And on a grid of the caller's choice: 1 to ceil(n / rows_per_workgroup) workgroups.
void launch(Modules &, const Kernel &, const W4A16 &, u32 workgroups, const hip::Stream & = {});

} // namespace nw
