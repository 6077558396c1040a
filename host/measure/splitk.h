// SPDX-License-Identifier: MIT
// The splitk_w4a16 family: kernels with the geometry of a published one (asm/splitk_w4a16), which
// exist to be timed against its published numbers. No application chooses them; decode_w4a16 is
// faster.
#pragma once
#include <string_view>

#include "base/types.h"
#include "runtime/modules.h"
#include "runtime/registry.h"

namespace nw {

// C[m, n] = sum_k A[m, k] * (q[n, k] - z[n, k / G]) * s[n, k / G]. Pointers are device memory.
struct SplitK {
    Dtype dtype;            // of a, s, z and c
    u32 m, n, k, group;     // m 1, 2 or 4; k a multiple of group, m * k <= 32768; group 32 or 128
    const void *a;          // [M, K] contiguous, 16-byte aligned
    const void *w;          // int32 [N, K/8] (formats/row_layout.h), 16-byte aligned
    const void *s;          // [N, K/G]
    const void *z;          // [N, K/G] whole numbers 0..15, or null: 8 everywhere
    void *c;                // [M, N] contiguous; overlaps no input
    u64 w_stride, s_stride; // bytes from row to row: multiples of 16 and 2, at least a row
};

// How the published kernel is launched: a wave does `rows` rows at a time with `unroll` loads of
// each in flight, and `waves` of the 16 waves of a workgroup take rows.
struct SplitKGeometry {
    u32 rows, unroll, waves;
    bool operator==(const SplitKGeometry &) const = default;
};

// The published choice for a product on a part of `wgps` WGPs, a workgroup each. Throws Error for a
// product it leaves to another kernel: m * k > 32768.
SplitKGeometry published_geometry(u32 m, u32 n, u32 k, u32 wgps);

// The fewest of 16 waves, 4 at least, that take as many rounds over n rows as all 16 do.
u32 fewest_waves(u32 n, u32 wgps, u32 rows);

// Throws Error where a gfx has no such kernel.
const Kernel &find_splitk(std::string_view gfx, const SplitK &, const SplitKGeometry &);

// Queues the product. Throws Error, with nothing launched, where an argument breaks a rule.
void launch(Modules &, const Kernel &, const SplitK &, u32 groups, u32 waves,
            const hip::Stream & = {});

} // namespace nw
