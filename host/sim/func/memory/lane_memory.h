// SPDX-License-Identifier: MIT
// Handlers of the memory instructions that are no plain load, store or atomic of an address a lane.
#pragma once
#include "sim/func/memory/access.h"

namespace nw::sim {

// By mnemonic; null for all others. `find_places` is for MemoryAccess.
struct LaneMemory {
    enum class Form : u8 {
        none,
        by_lane,   // addtid: no address, lanes follow each other
        counter,   // append, consume: no address and no data
        between,   // from LDS to LDS: an address and no data
        block,     // registers chosen by M0
        transposed // a matrix over the lanes
    };
    Form form = Form::none;
    Handler run = nullptr;
    void (*find_places)(Wave &, const Inst &, unsigned half, unsigned part, Places &) = nullptr;
    bool has_no_address() const { return form == Form::by_lane || form == Form::counter; }
};
LaneMemory find_lane_memory(std::string_view mnemonic);

// Addresses of an instruction between places in LDS: of the one that changes, and of the value.
struct LdsPair {
    u64 to = 0, from = 0;
};
LdsPair lds_pair(u32 address, i64 offset);

// gfx10's loads into LDS: a dword of each lane, from byte M0[15:0] + offset on. Their `result` is a
// register that they use on the way and leave as it was; Inst::flag is set.
inline constexpr u16 through_vgpr = vgpr_count - 1;
void run_load_to_lds(Wave &, const Inst &);
u64 load_to_lds_offset(const Wave &, const Inst &, unsigned lane); // in LDS

} // namespace nw::sim
