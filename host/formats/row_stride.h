// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

#include "base/types.h"

namespace nw {

// Bytes from one row of packed weights to the next that suit a gfx, for k weights a row.
//
// On gfx1151 rows whose bytes are a multiple of 2048 gather on the same DRAM channels: they get
// 128 bytes more (published: 1.15x at 2048 x 4096, 1.85x at 512 x 8192, nothing where rows are no
// such multiple). Elsewhere rows are contiguous: gfx1150 measured no difference. Always a multiple
// of 16, as the kernels ask.
u64 weight_row_stride(std::string_view gfx, u64 k);

} // namespace nw
