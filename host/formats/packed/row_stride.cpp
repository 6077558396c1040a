// SPDX-License-Identifier: MIT
#include "formats/packed/row_stride.h"

#include "base/targets.h"

namespace nw {

u64 weight_row_stride(std::string_view gfx, u64 k) {
    const u64 bytes = round_up<u64>(ceil_div<u64>(k, 2), 16);
    const Target *target = find_target(gfx);
    const bool pad = target && target->row_period && bytes % target->row_period == 0;
    return pad ? bytes + target->row_pad : bytes;
}

} // namespace nw
