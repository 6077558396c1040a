// SPDX-License-Identifier: MIT
// Registry of all memory that HIP's callers may name: owner and extent of an address.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::hipsim {

class Pool;

struct Block {
    // managed: both sides' at once; global: a module's variable; mapped: by hipMemMap.
    enum class Kind { device, host, managed, global, mapped };
    u64 begin = 0;
    u64 size = 0;
    Kind kind = Kind::device;
    int device = 0;
    unsigned flags = 0;
    bool synchronous = false;           // HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS
    bool borrowed = false;              // the bytes are not our allocation: hipHostRegister, graphs
    std::shared_ptr<void> storage = {}; // of a graph: outlives the graph
    std::shared_ptr<Pool> pool = {};    // the pool it was allocated from, if any
    std::string made_by = {};           // "hipMalloc #3"; see next_made_by
    u64 id = 0;                         // counts up
};

// Origin name for the allocation of the current entry point, with a counter per entry point.
std::string next_made_by();

class Blocks {
public:
    void add(Block block);
    // False if it is absent: of several threads that free it, one succeeds.
    bool remove(u64 begin);
    bool set_synchronous(u64 begin, bool on); // false if it is absent
    // True if any block overlaps these bytes.
    bool overlaps(u64 begin, u64 size) const;
    // Bytes from `address` to the end of its block and adjacent blocks; 0: none.
    u64 left(u64 address) const;
    u64 left(const void *address) const { return left(reinterpret_cast<u64>(address)); }
    std::vector<Block> of_device(int ordinal) const;
    std::vector<Block> of_host() const;           // and managed ones
    std::optional<Block> find(u64 address) const; // the block that contains it
    std::optional<Block> find(const void *address) const {
        return find(reinterpret_cast<u64>(address));
    }

private:
    mutable std::shared_mutex mutex_;
    std::map<u64, Block> by_begin_;
    u64 next_id_ = 1;
};

} // namespace nw::hipsim
