// SPDX-License-Identifier: MIT
#include "formats/row_stride.h"

namespace nw {

u64 weight_row_stride(std::string_view gfx, u64 k) {
    constexpr u64 channel_period = 512, pad = 128;
    const u64 bytes = round_up<u64>(ceil_div<u64>(k, 2), 16);
    return gfx == "gfx1151" && bytes % channel_period == 0 ? bytes + pad : bytes;
}

} // namespace nw
