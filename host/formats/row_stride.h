// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

#include "base/types.h"

namespace nw {

// Bytes from one row of packed weights to the next that suit a gfx, for k weights a row.
//
// On gfx1151 rows whose bytes are a multiple of 512 meet on few DRAM channels (T-018): they get 128
// bytes more. Published for multiples of 2048: 1.16x at 2048 x 4096, 1.85x at 512 x 8192, nothing
// at 4608 x 3584, which is no such multiple; for 1024 and 512 others propose the same. The model's
// scan of `decode_w4a16`, paddings of 64 to 640: 1.5x to 3.0x for multiples of 2048, 1.19x for 1024
// (6144 x 2048), 1.12x for 512 (4096 x 11264). 384 bytes would be up to 6 % better still there and
// cost three times the memory; 256, which others prefer, is worse. gfx1150 measured no difference:
// rows are contiguous elsewhere. Always a multiple of 16, as the kernels ask.
u64 weight_row_stride(std::string_view gfx, u64 k);

} // namespace nw
