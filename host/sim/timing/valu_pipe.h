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
        for (u64 free = 0;; ++at) {
            free = taken(at) ? 0 : free + 1;
            if (free == length)
                return at - length + 1;
        }
    }
    void take(u64 at, u32 length) {
        for (u64 c = at; c < at + length; ++c)
            words_[c / 64 % words_.size()] |= u64{1} << c % 64;
    }
    // Last cycle that may be reserved without wrapping around.
    u64 end() const { return begin_ / 64 * 64 + size - 64; }

private:
    bool taken(u64 at) const {
        return at < end() && (words_[at / 64 % words_.size()] >> at % 64 & 1);
    }
    std::array<u64, size / 64> words_{};
    u64 begin_ = 0;
};

struct ValuPipe {
    Calendar calendar;
    u64 wmma_until = 0;     // the last WMMA's end
    u64 trans_free = 0;     // of the TRANS unit
    u64 trans_dispatch = 0; // when it may get its next instruction
    // When the newest instructions at the matrix unit, and those behind them, leave its queue.
    std::array<u64, 16> matrix_queue{};
    u32 matrix_at = 0;
    u64 cold_start = never; // first dispatch into the idle pipeline
    u64 last_dispatch = 0;
    u64 last_execution = 0;
    bool used = false;
};

} // namespace nw::sim::timing
