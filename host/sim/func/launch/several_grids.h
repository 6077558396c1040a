// SPDX-License-Identifier: MIT
// A cooperative launch over several devices: an allocation that all of them see begins with this.
// Dispatch::grid_sync of each grid is an address inside it.
#pragma once
#include "base/types.h"

namespace nw::sim {

struct SeveralGrids {
    u32 left = 0; // grids that have not ended; atomic
    u32 reserved = 0;
};

} // namespace nw::sim
