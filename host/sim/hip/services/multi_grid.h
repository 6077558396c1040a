// SPDX-License-Identifier: MIT
// Contents of hidden_multigrid_sync_arg for a cooperative launch on one device or several.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"
#include "sim/func/launch/several_grids.h"

namespace nw::hipsim {

class Device;

// As ROCm's device libraries up to 7.1 read it.
struct GridSync {
    u64 all_grids = 0; // address of the counters that all grids share; 0: one device
    u32 grid = 0, grids = 0;
    u64 items_before = 0, items = 0; // of the grids before this one; of all
    u32 counters[2] = {};            // of this grid
    u32 groups = 0;
    u32 reserved = 0;
};
static_assert(sizeof(GridSync) == 48);

// A launch of one grid per device. All of them see its memory, until the last one has ended.
class MultiGrid {
public:
    struct Grid {
        Device *device;
        u32 groups;
        u64 items;
    };
    explicit MultiGrid(std::span<const Grid> grids); // fails with hipErrorOutOfMemory
    ~MultiGrid();
    MultiGrid(const MultiGrid &) = delete;

    u64 sync_of(u32 grid) const; // address of its GridSync
    void ended();                // one more grid has

private:
    struct Head {
        sim::SeveralGrids several;
        u32 counters[2] = {};
    };
    std::vector<Device *> devices_;
    std::byte *memory_ = nullptr; // Head, then a GridSync per grid
};

} // namespace nw::hipsim
