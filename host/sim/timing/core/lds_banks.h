// SPDX-License-Identifier: MIT
// LDS bank accesses of one instruction, and how many of them are due to bank conflicts.
#pragma once
#include <atomic>
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::sim::timing {

struct LdsPhases {
    u32 all = 0, conflicts = 0;

    LdsPhases &operator+=(const LdsPhases &o) {
        all += o.all;
        conflicts += o.conflicts;
        return *this;
    }
};

// `at`: LDS byte offsets of 32 lanes; lanes in `active` access `bytes` each. `serial`: an atomic,
// whose lanes serialize on equal addresses (T-052).
LdsPhases lds_phases(const u64 *at, u32 active, u32 bytes, bool gfx12, bool serial);

// The same from a memo of the last results: loops repeat few patterns. Any thread may call it.
class LdsMemo {
public:
    // The arguments. Addresses are relative to a multiple of four bytes: banks rotate with it.
    struct Pattern {
        u32 at[32];
        u32 active, bytes; // no bytes: an empty entry
        u32 gfx12, serial;
        bool operator==(const Pattern &) const = default;
    };

    LdsPhases phases(const u64 *at, u32 active, u32 bytes, bool gfx12, bool serial);

private:
    struct Entry {
        Pattern pattern{};
        LdsPhases phases;
    };
    struct alignas(64) Shard { // of some threads; a busy one is not waited for
        std::atomic_flag busy;
        Entry entries[64];
    };
    std::vector<Shard> shards_ = std::vector<Shard>(8);
};

} // namespace nw::sim::timing
