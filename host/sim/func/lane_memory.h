// SPDX-License-Identifier: MIT
// Handlers of the memory instructions that are no plain load, store or atomic of an address a lane.
#pragma once
#include "sim/func/access.h"

namespace nw::sim {

// By mnemonic; null for all others. `find_places` is for MemoryAccess.
struct LaneMemory {
    enum class Form : u8 {
        none,
        by_lane,   // addtid: no address, lanes follow each other
        counter,   // append, consume: no address and no data
        block,     // registers chosen by M0
        transposed // a matrix over the lanes
    };
    Form form = Form::none;
    Handler run = nullptr;
    void (*find_places)(Wave &, const Inst &, unsigned half, unsigned part, Places &) = nullptr;
    bool has_no_address() const { return form == Form::by_lane || form == Form::counter; }
};
LaneMemory find_lane_memory(std::string_view mnemonic);

} // namespace nw::sim
