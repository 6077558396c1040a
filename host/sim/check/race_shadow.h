// SPDX-License-Identifier: MIT
// The race check's shadow of LDS and device memory: the last accesses to each byte.
//
// Memory is split into blocks of 128 bytes, each with a short list of accesses with byte masks. A
// wave that reads 128 consecutive bytes costs one entry, and writes of neighbouring bytes don't
// conflict. An access removes the bytes that it supersedes from earlier entries.
#pragma once
#include <algorithm>
#include <iterator>
#include <memory>
#include <unordered_map>

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
    u32 clock = 0;  // of the wave at the access
    u32 serial = 0; // among its stores of this counter; 0: complete when the clock advances
    u32 inst = 0;
    u32 news = 0; // for flags: 1 + index of the wave's clock at the store; 0: none
    Touch touch = Touch::read;
    bool scalar = false;      // a store to the scalar cache
    bool scalar_load = false; // `serial` is among these; they only matter to the own wave
    bool dma = false;         // a write of LDS that counts as a load from memory
};

constexpr unsigned shadow_bytes = 128;

// Accesses to one block, oldest first. Most blocks have one access, which is stored inline.
class ShadowBlock {
public:
    size_t size() const { return size_; }
    ShadowAccess *begin() { return more_ ? more_.get() : &first_; }
    ShadowAccess *end() { return begin() + size_; }
    ShadowAccess &operator[](size_t n) { return begin()[n]; }
    ShadowAccess &back() { return begin()[size_ - 1]; }
    void clear() { size_ = 0; }
    void pop_back() { --size_; }
    void erase(ShadowAccess *at) {
        std::copy(at + 1, end(), at);
        --size_;
    }
    void push_back(const ShadowAccess &a) {
        if (size_ == capacity_)
            grow();
        begin()[size_++] = a;
    }

private:
    void grow() {
        constexpr u32 least = 4;
        const u32 capacity = std::max(least, 2 * capacity_);
        auto more = std::make_unique<ShadowAccess[]>(capacity);
        std::copy(begin(), end(), more.get());
        more_ = std::move(more);
        capacity_ = capacity;
    }

    u32 size_ = 0, capacity_ = 1;
    ShadowAccess first_;
    std::unique_ptr<ShadowAccess[]> more_;
};

class GlobalShadow {
public:
    ShadowBlock &block(u64 address) { // the one with this address
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
    Slot slots_[64]; // cache of recent pages
};

} // namespace nw::sim
