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
// scan of `decode_w4a16` (bench suite `stride`): 1.6x to 3.0x for multiples of 2048, 1.11x for 1024
// (4096 x 14336), 1.14x for 512 (4096 x 11264), 0.99x to 1.02x for others. 384 bytes would be up to
// 3 % better and cost three times the memory; 256 is worse. 64 and 192 would be 2 to 6 % better in
// the model, for all rows, but begin every other row within a 128-byte line of the caches, which
// nobody is known to have measured. gfx1150 measured no difference: rows are contiguous elsewhere.
// Always a multiple of 16, as the kernels ask.
u64 weight_row_stride(std::string_view gfx, u64 k);

} // namespace nw
