// SPDX-License-Identifier: MIT
// Copies from and to untrusted addresses of a caller.
#pragma once
#include <span>

#include "base/types.h"

namespace nw::hipsim {

// Like memcpy, but returns false instead of crashing on an inaccessible page. Some of the bytes may
// have been copied then.
bool copy_from_caller(void *to, const void *from, u64 bytes);
// Several copies, in as few calls of the kernel as possible: false if any fails.
struct FromCaller {
    void *to;
    const void *from;
    u64 bytes;
};
bool copy_from_caller(std::span<const FromCaller> copies);
bool copy_to_caller(void *to, const void *from, u64 bytes);

// A file descriptor: hosts pass it by its address, or, as in CUDA, cast to a pointer.
int descriptor_of(const void *shared);

} // namespace nw::hipsim
