// SPDX-License-Identifier: MIT
// Lanes of a vector memory instruction that access global memory: not LDS, and not scratch, which
// is private to a lane.
#pragma once
#include "sim/func/memory/access.h"

namespace nw::sim {

inline u32 global_lanes(const Wave &w, const MemoryAccess &a, const Places &p) {
    const u32 lanes = p.active & ~p.lds;
    if (a.space != Space::flat && a.space != Space::buffer)
        return lanes;
    u32 scratch = 0;
    const u64 size = u64{w.scratch_bytes} * row_lanes * w.halves;
    for_lanes(lanes, [&](unsigned l) {
        scratch |= u32{p.at[l] - reinterpret_cast<u64>(w.scratch) < size} << l;
    });
    return lanes & ~scratch;
}

} // namespace nw::sim
