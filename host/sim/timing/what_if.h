// SPDX-License-Identifier: MIT
// A change of a launch under which its record is replayed: what the launch would take without a
// stall, or with other resources.
#pragma once
#include <optional>
#include <vector>

#include "base/types.h"

namespace nw::sim::timing {

struct WhatIf {
    // Two VALU instructions of a block, by index, that issue as one VOPD instruction where `kept`
    // stands.
    struct Pair {
        u32 kept, other;
    };

    bool no_bank_conflicts = false; // LDS takes the phases that the size of an access needs
    // A load is issued where the one of the previous iteration was, outside loops at the first load
    // of the wave. Addresses and branches still wait for loads that they depend on.
    bool loads_earlier = false;
    u32 vgprs = 0;                // allocated by a wave; 0: as they are
    std::optional<u32> lds_bytes; // of a workgroup
    std::vector<Pair> pairs;
    bool coalesced = false;         // vector accesses have the fewest sectors for their bytes
    bool whole_generations = false; // without the workgroups that don't fill the part at the end
};
inline const WhatIf &unchanged =
    *new WhatIf; // never destroyed: the library has no destructors at exit

// The accesses of an instruction, by all recorded waves.
struct Footprint {
    u64 phases = 0, conflicts = 0;      // of LDS
    u64 sectors = 0, least_sectors = 0; // of global memory; the fewest that its bytes could be in
};

} // namespace nw::sim::timing
