// SPDX-License-Identifier: MIT
// Device memory of the simulated GPU: host allocations, and the map that says which addresses live.
#pragma once
#include <cstddef>
#include <memory>

#include "base/types.h"

namespace nw::sim {

struct Allocation {
    u64 begin = 0;
    u64 size = 0;
    u64 id = 0; // counts up: names an allocation in reports
};

// Thread-safe. Device address == host address, so hipMemcpy is memcpy and a kernel's access is a
// plain load after `find` has allowed it.
class Memory {
public:
    Memory();
    ~Memory();

    // 256-byte aligned, with unmapped-to-kernels guard space on both sides; null when out of
    // memory.
    void *allocate(u64 bytes);
    // False when `p` is not the start of a live allocation.
    bool release(void *p);
    // Memory that somebody else owns (host-registered, a loaded image's data).
    void adopt(void *p, u64 bytes);
    bool disown(void *p);

    // The live allocation that holds `address`; size 0 when there is none.
    Allocation find(u64 address) const;
    // The live allocation with the fewest bytes between it and `address`; for reports.
    Allocation nearest(u64 address) const;
    u64 bytes_in_use() const;
    // Changes whenever an allocation appears or goes: lets a wave keep the last `find`.
    u64 generation() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace nw::sim
