// SPDX-License-Identifier: MIT
#include "base/occupancy.h"

#include <algorithm>

namespace nw {

u32 Residency::by_vgprs(u32 vgprs) const {
    const u32 allocated = round_up(std::max(vgprs * rows_, 1u), t_.vgpr_granule);
    return std::min(t_.max_waves, t_.vgprs_per_simd / allocated);
}

u32 Residency::groups_by_vgprs(u32 vgprs) const {
    return by_vgprs(vgprs) * t_.simds_per_wgp / halves_ / waves_ * halves_;
}

u32 Residency::groups_by_lds(u32 bytes) const {
    if (bytes > t_.lds_per_workgroup)
        return 0;
    return bytes ? t_.lds_per_wgp / halves_ / round_up(bytes, t_.lds_block) * halves_ : ~0u;
}

u32 Residency::groups(u32 vgprs, u32 lds_bytes) const {
    return std::min(groups_by_vgprs(vgprs), groups_by_lds(lds_bytes));
}

u32 Residency::most_waves(u32 vgprs, u32 lds_bytes) const {
    if (groups(vgprs, lds_bytes) == 0)
        return 0;
    const u32 most = by_vgprs(vgprs);
    return lds_bytes ? std::min(most, ceil_div(groups_by_lds(lds_bytes) * waves_, t_.simds_per_wgp))
                     : most;
}

} // namespace nw
