// SPDX-License-Identifier: MIT
// What a wave knows to have happened: vector clocks over the waves of a grid.
#pragma once
#include <memory>
#include <vector>

#include "base/types.h"

namespace nw::sim {

// How far another wave is known to have come: reads up to `clock`, and stores up to the serial
// numbers that the wave had waited for when it said so.
struct Progress {
    u32 clock = 0, lds = 0, global = 0;
    void join(const Progress &);
};

// Waves of the own workgroup are a small dense part that every barrier joins. Of other workgroups a
// wave only hears through atomics: most grids never fill that part.
class Knowledge {
public:
    Knowledge() = default;
    Knowledge(u32 first, u32 waves) : first_(first), mates_(waves) {}
    void join(const Knowledge &);
    // The same from an atomic of another workgroup: ordered, but caches may still hold older data.
    void invalidate_caches() { cached_ = ordered_; }
    // `cached`: what a load that may hit a stale cache line can rely on.
    Progress of(u32 wave, bool cached) const;
    Progress &mate(u32 in_group) { return mates_[in_group]; }

private:
    using Others = std::vector<Progress>; // by wave of the grid, as far as any is known
    using Shared = std::shared_ptr<const Others>;
    static void merge(Shared &into, const Shared &from);
    static void merge(Shared &into, u32 first, const std::vector<Progress> &from);

    u32 first_ = 0; // wave of the grid that mates_[0] is
    std::vector<Progress> mates_;
    Shared ordered_, cached_;
};

} // namespace nw::sim
