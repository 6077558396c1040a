// SPDX-License-Identifier: MIT
// HQQ layers as the kernels can have them.
#pragma once
#include <cstddef>
#include <vector>

#include "formats/layers/hqq.h"
#include "formats/layers/source_linear.h"

namespace nw {

// Throws Error if a zero point is none of 0..15, or if the groups are none that kernels have. Reads
// zero points.
SourceLinear hqq_linear(const HqqLayer &);

// As repack_weights() and repack_zeros() of repack.h.
void hqq_weights(const SourceLinear &, u32 first, u32 rows, std::byte *out, u64 stride);
void hqq_zeros(const SourceLinear &, u32 first, u32 rows, u32 *out);

} // namespace nw
