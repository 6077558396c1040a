// SPDX-License-Identifier: MIT
// Who touched which bytes last: the race check's shadow of LDS and of device memory.
//
// Memory is seen in blocks of 128 bytes, each with a short list of accesses with byte masks: a wave
// that reads 128 bytes in a row costs one entry, and two waves that write neighbouring bytes don't
// meet. An access drops the bytes that it supersedes from the entries before it.
#pragma once
#include <iterator>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/types.h"

namespace nw::sim {

struct ByteMask {
    u64 low = 0, high = 0; // of 128 bytes
    static ByteMask span(unsigned offset, unsigned size) {
        unsigned __int128 bits = size >= 128
                                     ? ~static_cast<unsigned __int128>(0)
                                     : ((static_cast<unsigned __int128>(1) << size) - 1) << offset;
        return {static_cast<u64>(bits), static_cast<u64>(bits >> 64)};
    }
    bool any() const { return low | high; }
    bool covers(const ByteMask &o) const { return !(o.low & ~low) && !(o.high & ~high); }
    unsigned first() const {
        return static_cast<unsigned>(low ? __builtin_ctzll(low) : 64 + __builtin_ctzll(high));
    }
    void add(const ByteMask &o) { low |= o.low, high |= o.high; }
    void remove(const ByteMask &o) { low &= ~o.low, high &= ~o.high; }
    friend ByteMask operator&(ByteMask a, ByteMask b) { return {a.low & b.low, a.high & b.high}; }
};

enum class Touch : u8 { read, write, atomic };

struct ShadowAccess {
    ByteMask bytes;
    u32 wave = 0;   // of the grid
    u32 clock = 0;  // the wave's, then
    u32 serial = 0; // of its stores of this counter; 0: done when the clock moves on
    u32 inst = 0;
    u32 news = 0; // 1 + index of what the wave knew when it stored, for flags; 0: nothing
    Touch touch = Touch::read;
};

constexpr unsigned shadow_bytes = 128;

using ShadowBlock = std::vector<ShadowAccess>;

class GlobalShadow {
public:
    ShadowBlock &block(u64 address) { // that holds the address
        const u64 number = address / page_bytes;
        Slot &slot = slots_[number % std::size(slots_)];
        if (slot.number != number) [[unlikely]] {
            std::unique_ptr<Page> &page = pages_[number];
            if (!page)
                page = std::make_unique<Page>();
            slot = {number, page.get()};
        }
        return slot.page->blocks[address % page_bytes / shadow_bytes];
    }

private:
    static constexpr u64 page_bytes = 4096;
    struct Page {
        ShadowBlock blocks[page_bytes / shadow_bytes];
    };
    struct Slot {
        u64 number = ~u64{0};
        Page *page = nullptr;
    };
    std::unordered_map<u64, std::unique_ptr<Page>> pages_;
    Slot slots_[64]; // the pages touched last
};

} // namespace nw::sim
