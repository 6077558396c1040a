// SPDX-License-Identifier: MIT
// Device memory of the simulated GPU: host allocations, and the map of live addresses.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "base/types.h"

namespace nw::sim {

class Written;

struct Allocation {
    u64 begin = 0; // on the host
    u64 size = 0;
    u64 id = 0;                 // counts up
    u64 device = 0;             // emulated device address: the same in every run
    bool read_only = false;     // for kernels
    Written *written = nullptr; // null: all of it counts as written
    bool holds(u64 address) const { return address - begin < size; }
};

// The same with its origin, for reports.
struct Origin : Allocation {
    std::string maker;    // "hipMalloc #3"; empty if unknown
    std::string freed_by; // "hipFree"; empty while it lives
};

// Thread-safe. Device address == host address, so hipMemcpy is memcpy and a kernel's access is a
// plain load once `find` has checked it.
class Memory {
public:
    Memory();
    ~Memory();

    // 256-byte aligned, with unmapped-to-kernels guard space on both sides; null when out of
    // memory.
    void *allocate(u64 bytes, std::string maker = {}, bool read_only = false);
    // False when `p` is not the start of a live allocation. The host memory is freed later: until
    // then a use after free is reported.
    bool release(void *p, std::string by = {});
    // The same, but the memory is kept for `renew` or `discard`; it stays in use.
    bool shelve(void *p, std::string by);
    // A shelved allocation lives again, as a new one; false when none is shelved at `p`.
    bool renew(void *p, std::string maker);
    bool discard(void *p);
    // Memory owned by the caller (host-registered, a loaded image's data). `of_host`: its emulated
    // addresses are apart.
    void adopt(void *p, u64 bytes, std::string maker = {}, bool of_host = false);
    // With `by`, later accesses are reported as uses after it, as those after release are.
    bool disown(void *p, std::string by = {});
    // Destroys `backing` as soon as the allocation is released, before its memory is used again.
    // False when `p` is not the start of a live allocation.
    bool hold(void *p, std::shared_ptr<void> backing);

    // From now on nobody has written the live allocation that begins at `p`; renew() says so again.
    void watch_writes(void *p);
    bool watches_writes() const; // any
    // A copy writes these bytes; `source` null: from the host, or a fill.
    void copied(u64 address, const Memory *source, u64 from, u64 bytes);

    // The live allocation that holds `address`; size 0 when there is none.
    Allocation find(u64 address) const;
    // For reports: the live allocation closest to `address`, or the youngest recently released one
    // that contained it.
    Origin nearest(u64 address) const;
    Origin released_at(u64 address) const;
    u64 bytes_in_use() const;
    // Changes with every allocation or release: lets a wave cache the last `find`.
    u64 generation() const;

    // Emulated addresses of launches' own memory come from a ring: its next slot. A trial run of a
    // launch sets it back, so that the launch itself is timed as it would be without.
    u64 launch_slot() const;
    void set_launch_slot(u64);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace nw::sim
