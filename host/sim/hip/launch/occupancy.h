// SPDX-License-Identifier: MIT
#pragma once
#include "sim/hip/module/module.h"

namespace nw::hipsim {

// Workgroups of `workgroup` work-items that fit on one WGP, HIP's multiprocessor.
u32 workgroups_per_wgp(const Function &function, u32 workgroup, u64 dynamic_lds);

} // namespace nw::hipsim
