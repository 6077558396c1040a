// SPDX-License-Identifier: MIT
// Allocates and frees blocks owned by the runtime.
#pragma once
#include "sim/hip/runtime.h"

namespace nw::hipsim {

// All fail with hipErrorOutOfMemory. `bytes` may be 0 for none of them.
void *allocate_device(Device &device, u64 bytes);
void *allocate_device(Device &device, u64 bytes, std::shared_ptr<Pool> pool, std::string made_by);
// The program's own: for the initialisation check nobody has written it. Returns `at`.
void *unwritten(Device &device, void *at);
void *allocate_shared(u64 bytes, Block::Kind kind, unsigned flags); // host or managed

// The block that starts at `pointer`; hipErrorInvalidValue when none does or it is of another kind.
Block block_at(const void *pointer, Block::Kind kind);

// Waits for all commands that may use the block, then frees it. Errors of these commands stay
// pending for later calls. hipErrorInvalidValue if another thread freed it first.
void release(const Block &block);
// Without the wait, after Blocks::remove: for hipFreeAsync in stream order.
void release_storage(const Block &block);

} // namespace nw::hipsim
