// SPDX-License-Identifier: MIT
// The moe_align family, typed: from the router's choice to the lists that MoeW4A16 takes. The slots
// of an expert follow each other, ascending, in blocks of one expert each; what is left of a block
// is filled with `slots`, blocks that no expert has get the expert -1. A slot whose expert does not
// exist is in no block. The same lists every time.
#pragma once
#include <string_view>

#include "base/types.h"
#include "hip/hip.h"
#include "runtime/modules.h"
#include "runtime/registry.h"

namespace nw {

// A lane for each.
inline constexpr u32 most_aligned_experts = 512;

// One launch, as the kernel takes it. Pointers are device memory, 4-byte aligned.
struct MoeAlign {
    u32 slots;                    // tokens * top_k, 1..2^30-1
    u32 experts;                  // 1..512
    u32 block_size;               // one of moe_block_sizes
    u32 blocks;                   // that there is room for: at least aligned_blocks() of them
    const void *topk_ids;         // i32 [slots]
    void *sorted_token_ids;       // i32 [blocks, block_size]
    void *expert_ids;             // i32 [blocks]
    void *num_tokens_post_padded; // i32: of sorted_token_ids, those in blocks of an expert
};

// How many blocks there may be, however the slots fall.
u64 aligned_blocks(u64 slots, u64 experts, u64 block_size);

// Throws Error where there is none for the gfx.
const Kernel &choose_moe_align(std::string_view gfx);

// Throws Error naming argument, value, rule and remedy.
void validate(const MoeAlign &);

// Queues it on the device of `modules`. Throws Error, with nothing launched, where an argument
// breaks a rule.
void launch(Modules &, const MoeAlign &, const hip::Stream & = {});

// The same with a kernel of the caller's choice.
void launch(Modules &, const Kernel &, const MoeAlign &, const hip::Stream & = {});

} // namespace nw
