// SPDX-License-Identifier: MIT
// The bytes of an allocation that something has written, a bit each: for the initialisation check.
#pragma once
#include <atomic>

#include "base/types.h"

namespace nw::sim {

// Thread-safe: workgroups and copies write at the same time.
class Written {
public:
    Written(u64 begin, u64 size); // none
    ~Written();
    Written(const Written &) = delete;
    Written &operator=(const Written &) = delete;

    // Bytes beyond the allocation are ignored.
    void add(u64 address, u64 bytes);
    // As `from` has them, for a copy of these bytes; null: all.
    void add_copied(u64 address, const Written *from, u64 source, u64 bytes);
    // Bytes that nothing has written, a bit each; at most 64.
    u64 missing(u64 address, u64 bytes) const;

private:
    std::atomic<u64> &word(u64 offset) const { return bits_[offset / 64]; }

    const u64 begin_, size_;
    const u64 mapped_; // bytes of bits_
    std::atomic<u64> *bits_ = nullptr;
    std::atomic<bool> all_ = false; // as far as is known
};

} // namespace nw::sim
