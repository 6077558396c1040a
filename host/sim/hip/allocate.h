// SPDX-License-Identifier: MIT
// Blocks that the runtime owns: made, and given back.
#pragma once
#include "sim/hip/runtime.h"

namespace nw::hipsim {

// All fail with hipErrorOutOfMemory. `bytes` may be 0 for none of them.
void *allocate_device(Device &device, u64 bytes, std::shared_ptr<Pool> pool = nullptr);
void *allocate_shared(u64 bytes, Block::Kind kind, unsigned flags); // host or managed

// The block that starts at `pointer`; hipErrorInvalidValue when none does or it is of another kind.
Block block_at(const void *pointer, Block::Kind kind);

// Waits for all that may use the block, then gives it back. Errors of what it waited for stay for
// calls whose results people look at. hipErrorInvalidValue when another thread was faster.
void release(const Block &block);
// Without the wait and after Blocks::remove: what hipFreeAsync does in stream order.
void release_storage(const Block &block);

} // namespace nw::hipsim
