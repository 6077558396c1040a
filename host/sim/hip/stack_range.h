// SPDX-License-Identifier: MIT
// The stack of a thread of the host.
#pragma once
#include <pthread.h>

#include "base/types.h"

namespace nw::hipsim {

// The end of this thread's stack, and its beginning: a stack grows downwards.
struct StackRange {
    u64 low = 0, high = 0;
    StackRange() {
        pthread_attr_t attributes;
        void *begin = nullptr;
        size_t bytes = 0;
        if (pthread_getattr_np(pthread_self(), &attributes) != 0)
            return;
        if (pthread_attr_getstack(&attributes, &begin, &bytes) == 0) {
            low = reinterpret_cast<u64>(begin);
            high = low + bytes;
        }
        pthread_attr_destroy(&attributes);
    }
};

inline const StackRange &this_stack() {
    thread_local const StackRange stack;
    return stack;
}

// At `here`, in a frame of this thread: whether kernels can be simulated on what is left. A host's
// threads may have much smaller stacks than a stream's own.
inline bool roomy(const void *here) {
    constexpr u64 enough = 1 << 20;
    return reinterpret_cast<u64>(here) - this_stack().low >= enough;
}

} // namespace nw::hipsim
