// SPDX-License-Identifier: MIT
// Event queue of SIMDs by cycle. Most events are a few cycles ahead: a ring of cycles holds a bit
// per SIMD, a heap holds later ones.
#pragma once
#include <array>
#include <queue>
#include <utility>
#include <vector>

#include "base/types.h"

namespace nw::sim::timing {

class EventWheel {
public:
    static constexpr u32 most_simds = 512;

    // `at` is not before the cycle of the last event.
    void plan(u64 at, u32 simd) {
        if (at < now_ + size)
            set(at, simd);
        else
            later_.push({at, simd});
    }

    // Pops the earliest event, lowest SIMD first; false when there is none.
    bool next(u64 &at, u32 &simd) {
        if (!any_ && later_.empty())
            return false;
        if (!any_)
            advance(later_.top().first);
        else
            advance(now_ + distance());
        Bits &bits = ring_[now_ % size];
        for (u32 w = 0; w < bits.size(); ++w)
            if (bits[w]) {
                simd = w * 64 + static_cast<u32>(__builtin_ctzll(bits[w]));
                bits[w] &= bits[w] - 1;
                break;
            }
        at = now_;
        bool left = false;
        for (u64 word : bits)
            left |= word != 0;
        if (!left) {
            full_[now_ % size / 64] &= ~(u64{1} << now_ % 64);
            --any_;
        }
        return true;
    }

private:
    static constexpr u32 size = 1024;
    using Bits = std::array<u64, most_simds / 64>;
    using Later = std::pair<u64, u32>;

    void set(u64 at, u32 simd) {
        ring_[at % size][simd / 64] |= u64{1} << simd % 64;
        u64 &word = full_[at % size / 64];
        const u64 bit = u64{1} << at % 64;
        any_ += !(word & bit);
        word |= bit;
    }

    // Cycles until the first one with an event.
    u64 distance() const {
        const u32 start = now_ % size;
        u64 word = full_[start / 64] >> start % 64;
        if (word)
            return static_cast<u64>(__builtin_ctzll(word));
        for (u32 n = 1; n <= full_.size(); ++n)
            if (const u64 w = full_[(start / 64 + n) % full_.size()])
                return u64{n} * 64 - start % 64 + static_cast<u64>(__builtin_ctzll(w));
        return 0;
    }

    // Events on the heap are at least one turn of the ring ahead.
    void advance(u64 to) {
        now_ = to;
        for (; !later_.empty() && later_.top().first < now_ + size; later_.pop())
            set(later_.top().first, later_.top().second);
    }

    std::array<Bits, size> ring_{};
    std::array<u64, size / 64> full_{}; // cycles that have a bit
    u32 any_ = 0;                       // how many of them
    u64 now_ = 0;
    std::priority_queue<Later, std::vector<Later>, std::greater<>> later_;
};

} // namespace nw::sim::timing
