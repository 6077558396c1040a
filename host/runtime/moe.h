// SPDX-License-Identifier: MIT
// The moe_w4a16 family, typed: a mixture of experts; and moe_prefill_w4a16, its form for many
// tokens. A launch has blocks of 1, 2, 4 or 8 slots, which are decode, or of 16, 32 or 64, which
// are prefill, with WMMA; a slot is one token at one of its experts: a row of C. For slot t of a
// block with expert e
//
//     Y[n]    = sum_k A[t / top_k, k] * (q[e, n, k] - z) * s[e, n, k / G]  (+ bias[e, n])
//     C[t, n] = weight[t] * Y[n], or weight[t] * SiLU(Y[n]) * Y[n + N/2]
//
// in float, C rounded to nearest even. All blocks run at once. Everything that the host can see is
// checked before anything is launched; what it can't see, the lists on the device, harms nobody: a
// block whose expert does not exist is skipped, a slot that does not exist is not stored.
#pragma once
#include <array>
#include <string_view>

#include "base/types.h"
#include "runtime/decode.h"

namespace nw {

inline constexpr std::array<u32, 7> moe_block_sizes = {1, 2, 4, 8, 16, 32, 64};
inline constexpr u32 moe_decode_block = 8; // larger ones are prefill's

// One launch, as the kernels take it. Pointers are device memory.
struct MoeW4A16 {
    Dtype dtype;            // of a, s, bias and c
    u32 n, k, group;        // of an expert: n >= 1 rows; group 32, 64 or 128, k a multiple of it
    u32 experts;            // that there are weights of, >= 1
    u32 block_size;         // slots of a block: one of moe_block_sizes
    u32 blocks;             // >= 1
    u32 slots;              // rows of c, >= 1
    u32 top_k;              // slots of a row of a, >= 1
    bool silu_gate_up;      // the first half of an expert's rows is gate, the other up
    const void *a;          // [ceil(slots / top_k), K] contiguous, 16-byte aligned
    const void *w;          // int32 [experts, N, K/8] (formats/row_layout.h), 16-byte aligned
    const void *s;          // [experts, N, K/G]
    const void *bias;       // [experts, N] contiguous, or null
    void *c;                // [slots, N], with silu_gate_up [slots, N/2]; overlaps no input
    const void *expert_ids; // i32 [blocks]; another than 0..experts-1: the block is skipped
    const void *sorted_token_ids; // i32 [blocks, block_size]; another than 0..slots-1: not stored.
                                  // Null: 0, 1, 2, ...
    const void *topk_weights;     // f32 [slots], or null: 1
    const void *num_tokens_post_padded; // i32: only blocks that begin below it in sorted_token_ids;
                                        // null: all
    u64 w_stride, w_expert;             // bytes from row to row, expert to expert: multiples of 16
    u64 s_stride, s_expert;             // multiples of 2
    Zeros zeros = Zeros::eight;         // or packed
    const void *z = nullptr;            // uint32 [experts, ceil(N/8), K/G]
    u64 z_stride = 0, z_expert = 0;     // multiples of 4
};

// Of a kernel of either family.
u32 moe_block_size(const Kernel &);

// The kernel to use. Throws Error listing what there is.
const Kernel &choose_moe(std::string_view gfx, Dtype dtype, u32 group, u32 block_size, Zeros zeros);

// Throws Error naming argument, value, rule and remedy. Knows nothing of the device, nor whether c
// overlaps an input: launch does.
void validate(const MoeW4A16 &);
// Of these, the rules for n, k, group, block_size, zeros and silu_gate_up.
void validate_shape(const MoeW4A16 &);

// Queues the blocks on the device of `modules`. Throws Error, with nothing launched and c
// untouched, where an argument breaks a rule or no kernel exists.
void launch(Modules &, const MoeW4A16 &, const hip::Stream & = {});

// The same with a kernel of the caller's choice, which must match dtype, group, block size, zeros.
void launch(Modules &, const Kernel &, const MoeW4A16 &, const hip::Stream & = {});

} // namespace nw
