// SPDX-License-Identifier: MIT
// A mixture of experts with GGUF weights from activations in f32 and the router's choice: slot by
// slot where experts have few of them, else in blocks of slots of one expert (runtime/gguf_moe.h).
#pragma once
#include "runtime/gguf_moe.h"

namespace nw {

// Pointers are device memory.
struct GgufMoeLinear {
    GgufExperts of;
    const void *x;          // f32 [of.rows(), k], 16-byte aligned
    u64 x_stride;           // bytes from row to row: a multiple of 16, at least 4k
    const void *expert_ids; // i32 [slots], 4-byte aligned; another than 0..experts-1: not stored
    void *workspace;        // 16-byte aligned; its first gguf_counters_bytes are not touched
    u64 workspace_bytes;    // at least gguf_moe_workspace
};                          // c and workspace overlap nothing else

// Slots of a block: 16, 64, or 1 without blocks.
u32 gguf_moe_block_size(u32 slots, u32 experts, u32 k);

// Bytes that are enough for so many slots, and for fewer.
u64 gguf_moe_workspace(const GgufExperts &);

// Throws Error naming argument, value, rule and remedy. The first: sizes alone.
void validate_gguf_moe_shape(const GgufExperts &);
void validate(const GgufMoeLinear &);

// The kernels of a launch, in their order.
struct GgufMoeKernels {
    const Kernel *convert, *align, *product; // align: null without blocks
};
GgufMoeKernels gguf_moe_kernels(std::string_view gfx, std::string_view type, u32 block_size);

// Queues it on the device of `modules`. Throws Error, with nothing launched, where an argument
// breaks a rule or no kernel exists.
void launch(Modules &, const GgufMoeLinear &, const hip::Stream & = {});

} // namespace nw
