// SPDX-License-Identifier: MIT
// Copies from and to untrusted addresses of a caller.
#pragma once
#include "base/types.h"

namespace nw::hipsim {

// Like memcpy, but false instead of a crash when a page is not there or not ours to read or write.
// With false, some of the bytes may have been copied.
bool copy_from_caller(void *to, const void *from, u64 bytes);
bool copy_to_caller(void *to, const void *from, u64 bytes);

} // namespace nw::hipsim
