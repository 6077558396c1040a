// SPDX-License-Identifier: MIT
// GGUF weights of a mixture of experts (ggml's mul_mat_id). A slot is one token at one of its
// experts, a row of c: c[t, n] = sum_k A[t / top_k, k] * w[e, n, k], e the slot's expert. A few
// slots go to gguf_moe_decode one by one (activations of quantize_q8), many come in blocks of one
// expert each (moe_align makes the lists) to gguf_moe_mid or, in larger blocks, to
// gguf_moe_prefill, with WMMA (activations of gguf_halves). All that the host can see is checked
// before anything is launched; what it can't see, the lists, harms nobody: an expert that does not
// exist is skipped, a slot that does not is not stored.
#pragma once
#include <array>
#include <string_view>

#include "base/types.h"
#include "hip/hip.h"
#include "runtime/modules.h"
#include "runtime/registry.h"

namespace nw {

// Weights and slots of either launch. Pointers are device memory.
struct GgufExperts {
    std::string_view type; // of gguf_types()
    u32 n, k;              // of an expert: n >= 1 rows, k a multiple of the type's block
    u32 experts;           // that w has, >= 1
    u32 slots;             // rows of c, >= 1
    u32 top_k;             // slots of a row of a, >= 1: 1 where each slot has its own
    const void *w;         // [experts, n, k / elements] blocks of the type, 2-byte aligned
    u64 w_expert;          // bytes from expert to expert: even, at least n rows of blocks, < 2^32
    void *c;               // f32 [slots, n] contiguous, 4-byte aligned; overlaps nothing else

    u32 rows() const { return ceil_div(slots, top_k); } // of a
};

struct GgufMoeDecode {
    GgufExperts of;
    const void *a;          // QuantizeQ8's of of.rows() rows, by_row; 16-byte aligned
    const void *expert_ids; // i32 [slots]; another than 0..experts-1: nothing is done
};

// Slots of a block that there are kernels for: gguf_moe_mid's, then gguf_moe_prefill's.
inline constexpr std::array<u32, 2> gguf_moe_block_sizes = {16, 64};
inline constexpr u32 gguf_moe_prefill_block = 64;

struct GgufMoeBlocks {
    GgufExperts of;         // k a multiple of 256 where blocks are gguf_moe_mid's
    u32 block_size, blocks; // slots of a block: of gguf_moe_block_sizes; blocks >= 1
    const void *a;          // GgufHalves' of of.rows() rows, by_row; 16-byte aligned
    const void *expert_ids; // i32 [blocks]
    const void *slot_ids;   // i32 [blocks, block_size]; another than 0..slots-1: not stored
};

// Throw Error where there is none.
const Kernel &choose_gguf_moe_decode(std::string_view gfx, std::string_view type);
const Kernel &choose_gguf_moe_blocks(std::string_view gfx, std::string_view type, u32 block_size);

// Throws Error naming argument, value, rule and remedy.
void validate(const GgufMoeDecode &);
void validate(const GgufMoeBlocks &);

// Queues it on the device of `modules`. Throws Error, with nothing launched, where an argument
// breaks a rule or no kernel exists.
void launch(Modules &, const GgufMoeDecode &, const hip::Stream & = {});
void launch(Modules &, const GgufMoeBlocks &, const hip::Stream & = {});

// The same with a kernel of the caller's choice, which must match.
void launch(Modules &, const Kernel &, const GgufMoeDecode &, const hip::Stream & = {});
void launch(Modules &, const Kernel &, const GgufMoeBlocks &, const hip::Stream & = {});

// Bytes of LDS that a launch asks for besides the kernel's own.
u32 gguf_moe_dynamic_lds(const Kernel &, u32 k);

// Workgroups of a slot, and the launch with so many: 1 to ceil(n / rows_per_workgroup).
u32 gguf_moe_groups(const Kernel &, const GgufMoeDecode &, u32 wgps);
void launch(Modules &, const Kernel &, const GgufMoeDecode &, u32 groups, const hip::Stream & = {});

} // namespace nw
