// SPDX-License-Identifier: MIT
// Which HIP the host was built for.
#pragma once

namespace nw::hipsim {

// One file serves hosts of ROCm 5, 6 and 7; they find it as libamdhip64.so.5, .so.6 or .so.7, and
// what differs between the three is chosen by that name. 6 for any other name.
int host_major();

// As hipRuntimeGetVersion encodes it: major * 10^7 + minor * 10^5 + patch.
int host_version();

} // namespace nw::hipsim
