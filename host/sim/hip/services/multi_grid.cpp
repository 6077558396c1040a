// SPDX-License-Identifier: MIT
#include "sim/hip/services/multi_grid.h"

#include <atomic>
#include <new>

#include "sim/hip/runtime.h"

namespace nw::hipsim {

MultiGrid::MultiGrid(std::span<const Grid> grids) {
    const u64 bytes = sizeof(Head) + grids.size() * sizeof(GridSync);
    memory_ = static_cast<std::byte *>(
        runtime().host_memory.allocate(bytes, "the counters of several grids"));
    require(memory_ != nullptr, hipErrorOutOfMemory);
    auto *const head = new (memory_) Head{.several = {static_cast<u32>(grids.size())}};
    u64 items = 0;
    for (const Grid &grid : grids)
        items += grid.items;
    u64 before = 0;
    for (u32 n = 0; n < grids.size(); ++n) {
        new (reinterpret_cast<void *>(sync_of(n)))
            GridSync{.all_grids = reinterpret_cast<u64>(head->counters),
                     .grid = n,
                     .grids = static_cast<u32>(grids.size()),
                     .items_before = before,
                     .items = items,
                     .groups = grids[n].groups};
        before += grids[n].items;
        grids[n].device->memory.adopt(memory_, bytes, "the counters of several grids");
        devices_.push_back(grids[n].device);
    }
}

MultiGrid::~MultiGrid() {
    for (Device *const device : devices_)
        device->memory.disown(memory_);
    if (memory_)
        runtime().host_memory.release(memory_);
}

u64 MultiGrid::sync_of(u32 grid) const {
    return reinterpret_cast<u64>(memory_) + sizeof(Head) + grid * sizeof(GridSync);
}

void MultiGrid::ended() { --std::atomic_ref{reinterpret_cast<Head *>(memory_)->several.left}; }

} // namespace nw::hipsim
