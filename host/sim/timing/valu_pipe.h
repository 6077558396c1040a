// SPDX-License-Identifier: MIT
// The VALU of a SIMD as shared by its waves: reserved execution cycles, and whether the pipeline is
// awake (T-050).
#pragma once
#include <algorithm>
#include <array>

#include "base/types.h"

namespace nw::sim::timing {

inline constexpr u64 never = ~u64{0};

// Reserved cycles in a window from now on.
class Calendar {
public:
    static constexpr u32 size = 1024;

    // Forgets what lies before `now`.
    void advance(u64 now) {
        if (now >= begin_ + size)
            words_.fill(0);
        else
            for (; begin_ / 64 < now / 64; begin_ += 64 - begin_ % 64)
                words_[begin_ / 64 % words_.size()] = 0;
        begin_ = std::max(begin_, now);
    }
    // First cycle from `at` on with `length` free cycles.
    u64 find(u64 at, u32 length) const {
        for (;;) {
            at = next_free(at);
            const u64 taken = next_taken(at, at + length);
            if (taken == at + length)
                return at;
            at = taken;
        }
    }
    void take(u64 at, u32 length) {
        while (length) {
            const u32 bit = at % 64, here = std::min(length, 64 - bit);
            word(at) |= (~u64{0} >> (64 - here)) << bit;
            at += here;
            length -= here;
        }
    }
    // Last cycle that may be reserved without wrapping around.
    u64 end() const { return begin_ / 64 * 64 + size - 64; }

private:
    u64 &word(u64 at) { return words_[at / 64 % words_.size()]; }
    u64 word(u64 at) const { return words_[at / 64 % words_.size()]; }
    // All cycles from end() on are free.
    u64 next_free(u64 at) const {
        for (; at < end(); at = (at | 63) + 1)
            if (const u64 free = ~word(at) >> at % 64)
                return at + static_cast<u64>(__builtin_ctzll(free));
        return at;
    }
    // The first taken cycle of [at, limit), or limit.
    u64 next_taken(u64 at, u64 limit) const {
        for (; at < std::min(limit, end()); at = (at | 63) + 1)
            if (const u64 taken = word(at) >> at % 64)
                return std::min(limit, at + static_cast<u64>(__builtin_ctzll(taken)));
        return limit;
    }
    std::array<u64, size / 64> words_{};
    u64 begin_ = 0;
};

struct ValuPipe {
    Calendar calendar;
    u64 wmma_until = 0;     // the last WMMA's end
    u64 trans_free = 0;     // of the TRANS unit
    u64 cold_start = never; // first dispatch into the idle pipeline
    u64 last_dispatch = 0;
    u64 last_execution = 0;
    bool used = false;
};

} // namespace nw::sim::timing
