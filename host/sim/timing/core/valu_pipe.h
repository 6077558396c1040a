// SPDX-License-Identifier: MIT
// The VALU of a SIMD as shared by its waves: when the next instruction may execute, its queues, and
// whether the pipeline is awake (T-050, T-053, T-054).
#pragma once
#include <array>

#include "base/types.h"

namespace nw::sim::timing {

inline constexpr u64 never = ~u64{0};

// The newest entries of a queue, by the cycle in which each leaves it.
class Leaving {
public:
    // When there is room for one more, if the queue holds `capacity`.
    u64 room(u32 capacity) const { return at_[(next_ - capacity) % size]; }
    void enter(u64 leaves) { at_[next_++ % size] = leaves; }

private:
    static constexpr u32 size = 64;
    std::array<u64, size> at_{};
    u32 next_ = 0;
};

struct ValuPipe {
    // Instructions execute in the order of dispatch, whichever wave they are of: one that waits for
    // its sources holds up the others. TRANS instructions have a queue of their own.
    u64 executed = 0;       // end of the last one, TRANS aside
    u64 wmma_until = 0;     // the last WMMA's end
    u64 trans_free = 0;     // of the TRANS unit
    u64 trans_dispatch = 0; // when it may get its next instruction
    Leaving queue;          // all that were dispatched
    Leaving trans;          // of these, TRANS
    Leaving matrix;         // WMMAs, and what is behind them
    u64 cold_start = never; // first dispatch into the idle pipeline
    u64 last_dispatch = 0;
    u64 last_execution = 0;
    bool used = false;
};

} // namespace nw::sim::timing
