// SPDX-License-Identifier: MIT
// One launch of the moe_w4a16 family, or of moe_prefill_w4a16, as a test sees it: host data, and a
// launch between guard bands. And the cases that both families have.
#pragma once
#include <initializer_list>
#include <optional>
#include <vector>

#include "decode_case.h"
#include "ref/moe.h"

namespace nw {

inline u32 to_groups(const Kernel &k, u32 columns) { return round_up(columns, k.number("group")); }

// N that silu and packed zero points allow.
inline u32 to_halves(u32 n) { return round_up(n, 8u); }

struct MoeShape {
    u32 n, k, experts, slots, top_k = 1;
    bool silu_gate_up = false, bias = false;
};

struct MoeCase {
    MoeShape shape;
    u32 block_size;
    std::vector<DecodeCase> experts; // their activations are not used
    u64 expert_pad = 0;              // bytes between experts, beyond the rows
    std::vector<u16> a;              // [ceil(slots / top_k), K]
    std::vector<i32> expert_ids, sorted_token_ids;
    std::vector<f32> topk_weights;
    std::optional<u32> num_tokens_post_padded;
    std::vector<u32> perm; // [experts, K] of act-order, or empty

    // The kernel's dtype, group, zeros and block size; data as in DecodeCase, each slot in order,
    // blocks of experts drawn at random.
    MoeCase(const Kernel &, const MoeShape &, Rng &);
    // As moe_align_block_size does: each slot at a random expert, the slots of an expert in blocks
    // of their own, filled up with `slots`, and a block more that stands for nothing.
    void sort_slots(Rng &);
    void add_weights(Rng &);
    // An order of activations for each expert, which the kernel takes.
    void add_orders(Rng &);

    // Without orders, the activations of each slot in that of its expert.
    MoeCase in_order() const;
    u32 columns() const { return shape.silu_gate_up ? shape.n / 2 : shape.n; }
    std::vector<ref::MoeSlot> reference() const;
};

// Launches the kernel and returns C [slots, columns], NaN where it was not written; fails the test
// where a guard band or an input changed.
std::vector<u16> run(check::Test &, const Kernel &, const MoeCase &);

// run() against the reference, within check::moe_bound(); rows of no slot must be as they were.
void check_case(check::Test &, const Kernel &, const MoeCase &, const char *what,
                std::source_location where = std::source_location::current());

// Rows, experts and matrices with gaps between them, filled with NaN.
void check_padded(check::Test &, const Kernel &, const MoeShape &);

// Slot lists of this size: one token at many experts, many tokens at one; unsorted, and sorted.
void check_lists(check::Test &, const Kernel &, std::initializer_list<u32> slots);

// Errors that the host can't detect: invalid expert and slot ids, any count.
void check_ids_of_nothing(check::Test &, const Kernel &);

// Gates from where e^-x leaves f32 to where it is nothing; weights that are NaN, which are their
// slots' and no others'.
void check_hard_values(check::Test &, const Kernel &);

// A NaN among the activations of one slot is in its row of C and in no other.
void check_non_finite(check::Test &, const Kernel &, u32 k);

} // namespace nw
