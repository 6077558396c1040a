// SPDX-License-Identifier: MIT
#pragma once
#include "sim/hip/copy/copy.h"

namespace nw::hipsim {

// Copies from and to `bytes` at `offset` in a device variable, named by its host shadow.
Copy copy_to_symbol(const void *symbol, const void *from, u64 bytes, u64 offset,
                    hipMemcpyKind kind);
Copy copy_from_symbol(void *to, const void *symbol, u64 bytes, u64 offset, hipMemcpyKind kind);

} // namespace nw::hipsim
