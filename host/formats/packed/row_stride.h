// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

#include "base/types.h"

namespace nw {

// Recommended row stride of packed weights in bytes, for a gfx and k weights per row.
//
// The table is (row_period, row_pad) in gen/targets.toml. On gfx1151 rows of a multiple of 512
// bytes use few DRAM channels (T-018): they get 128 bytes of padding. Published for multiples of
// 2048: 1.16x at 2048 x 4096, 1.85x at 512 x 8192, nothing at 4608 x 3584, which isn't one; for
// 1024 and 512 others propose the same. The model's scan of `decode_w4a16` (bench suite `stride`):
// 1.6x to 2.7x for multiples of 2048, 1.03x to 1.26x for 1024, 0.99x to 1.01x for others. 64, 192,
// 384 and 640 bytes perform equally; 128 is the smallest that aligns every row to a 128-byte cache
// line. 256 and 512 make other rows up to twice as slow. gfx1150 measured no difference: rows are
// contiguous elsewhere. Always a multiple of 16, as the kernels require.
u64 weight_row_stride(std::string_view gfx, u64 k);

} // namespace nw
