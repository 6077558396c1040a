// SPDX-License-Identifier: MIT
// Handlers of the memory instructions that are no plain load, store or atomic of an address a lane.
#pragma once
#include "sim/func/access.h"

namespace nw::sim {

// By mnemonic; null for all others. `find_places` is what MemoryAccess wants to know of it.
struct LaneMemory {
    Handler run = nullptr;
    void (*find_places)(Wave &, const Inst &, unsigned half, unsigned part, Places &) = nullptr;
};
LaneMemory find_lane_memory(std::string_view mnemonic);

} // namespace nw::sim
