// SPDX-License-Identifier: MIT
// The splitk_w4a16 family: kernels with the geometry of a published one (asm/splitk_w4a16), which
// exist to be timed against its published numbers. No application chooses them; decode_w4a16 is
// faster.
#pragma once
#include <string_view>

#include "base/types.h"
#include "runtime/kernel.h"

namespace nw {

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

// Throws Error where a gfx has no such kernel. zeros: with zero points in the activations' type.
const Kernel &find_splitk(std::string_view gfx, Dtype, u32 group, u32 m, bool zeros,
                          const SplitKGeometry &);

} // namespace nw
