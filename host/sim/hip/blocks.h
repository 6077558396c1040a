// SPDX-License-Identifier: MIT
// Every piece of memory that HIP's callers may name: who owns an address, and how far it goes.
#pragma once
#include <map>
#include <optional>
#include <shared_mutex>

#include "base/types.h"

namespace nw::hipsim {

struct Block {
    enum class Kind { device, host, global };
    u64 begin = 0;
    u64 size = 0;
    Kind kind = Kind::device;
    int device = 0;
    unsigned flags = 0;
    u64 id = 0; // counts up

    u64 left(u64 address) const { return begin + size - address; }
};

class Blocks {
public:
    void add(Block block);
    void remove(u64 begin);
    std::optional<Block> find(u64 address) const; // the block that holds it
    std::optional<Block> find(const void *address) const {
        return find(reinterpret_cast<u64>(address));
    }

private:
    mutable std::shared_mutex mutex_;
    std::map<u64, Block> by_begin_;
    u64 next_id_ = 1;
};

} // namespace nw::hipsim
