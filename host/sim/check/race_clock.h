// SPDX-License-Identifier: MIT
// Vector clocks over the waves of a grid: what happened before a wave's present.
#pragma once
#include <memory>
#include <vector>

#include "base/types.h"

namespace nw::sim {

// Known progress of another wave: its reads up to `clock`, and its stores up to the serial numbers
// that it had waited for when it signalled. `scalar`: scalar stores that it had written back.
// `loads`: loads from memory that it had waited for, those that write LDS included.
struct Progress {
    u32 clock = 0, lds = 0, global = 0, scalar = 0, loads = 0;
    void join(const Progress &);
};

// Progress of the own workgroup's waves is a small dense array that every barrier joins. Waves of
// other workgroups appear only after an atomic: most grids leave that part empty.
class Knowledge {
public:
    Knowledge() = default;
    Knowledge(u32 first, u32 waves) : first_(first), mates_(waves) {}
    void join(const Knowledge &);
    // After an atomic of another workgroup: ordered, but caches may still hold older data.
    void invalidate_caches() { cached_ = ordered_; }
    // `cached`: only what a load that may hit a stale cache line can rely on.
    Progress of(u32 wave, bool cached) const;
    Progress &mate(u32 in_group) { return mates_[in_group]; }

private:
    using Others = std::vector<Progress>; // by wave of the grid, up to the highest one known
    using Shared = std::shared_ptr<const Others>;
    static void merge(Shared &into, const Shared &from);
    static void merge(Shared &into, u32 first, const std::vector<Progress> &from);

    u32 first_ = 0; // index in the grid of mates_[0]
    std::vector<Progress> mates_;
    Shared ordered_, cached_;
};

} // namespace nw::sim
