// SPDX-License-Identifier: MIT
// moe_prefill_w4a16, dot_moe_w4a16: every row of the registry, on shapes derived from the row. What
// a tile computes is prefill_w4a16's or dot_w4a16's; here is which expert and whose activations it
// has, and what becomes of the results.
#include <set>

#include "moe_case.h"

using namespace nw;
using check::Test;

namespace {

constexpr u32 k_per_stage = 32;

// Blocks of experts with these numbers of slots, in order; none for an expert without slots.
void give(MoeCase &p, const std::vector<u32> &counts) {
    p.expert_ids.clear();
    p.sorted_token_ids.clear();
    i32 slot = 0;
    for (u32 e = 0; e < counts.size(); ++e) {
        for (u32 i = 0; i < counts[e]; ++i)
            p.sorted_token_ids.push_back(slot++);
        p.sorted_token_ids.resize(round_up<u64>(p.sorted_token_ids.size(), p.block_size),
                                  static_cast<i32>(p.shape.slots));
        p.expert_ids.resize(p.sorted_token_ids.size() / p.block_size, static_cast<i32>(e));
    }
}

void edges(Test &t, const Kernel &kernel) {
    std::set<u32> seen;
    for (const auto &shape : check::edge_shapes(kernel)) {
        MoeCase p(kernel, {shape.n, shape.k, 3, 2 * moe_block_size(kernel) + 3}, t.rng);
        p.sort_slots(t.rng);
        check_case(t, kernel, p, "edge");
        if (!seen.insert(shape.n).second)
            continue;
        MoeCase halves(kernel, {to_halves(shape.n), to_groups(kernel, 33), 3, 35, 2, true, true},
                       t.rng);
        halves.sort_slots(t.rng);
        check_case(t, kernel, halves, "edge of n/2, silu");
    }
    if (kernel.param("zeros").empty()) {
        MoeCase p(kernel, {18, to_groups(kernel, 1), 2, 17, 1, true, true}, t.rng);
        check_case(t, kernel, p, "nine rows of gate");
    }
}

// Experts with no slot, with few, with a block's and with more; the last block ends early.
void sizes_of_experts(Test &t, const Kernel &kernel) {
    const u32 b = moe_block_size(kernel);
    const std::vector<u32> counts = {0, 1, b - 1, 0, b, b + 1, 2 * b + 3, 2};
    u32 slots = 0;
    for (u32 count : counts)
        slots += count;
    MoeCase p(kernel, {37, to_groups(kernel, 1), static_cast<u32>(counts.size()), slots, 3}, t.rng);
    give(p, counts);
    check_case(t, kernel, p, "experts of all sizes");
    p.add_weights(t.rng);
    check_case(t, kernel, p, "experts of all sizes, weights");
}

// Results are bit-identical in every run, in any order of workgroups.
void same_every_time(Test &t, const Kernel &kernel) {
    MoeCase p(kernel,
              {to_halves(kernel.number("bn") + 8), to_groups(kernel, 9 * k_per_stage), 3,
               2 * moe_block_size(kernel) + 1, 2, true, true},
              t.rng);
    p.sort_slots(t.rng);
    t.shape("twice");
    const std::vector<u16> first = run(t, kernel, p);
    t.same("c", p.experts[0].dtype, run(t, kernel, p), first);
}

// Each path once: lists or none, weights or none, bias or none, halves or not, both halves of LDS
// and a first stage alone, rows and columns past the end.
void every_path(Test &t, const Kernel &kernel) {
    const u32 b = moe_block_size(kernel), bn = kernel.number("bn");
    MoeCase plain(kernel, {5, to_groups(kernel, 1), 2, b + 3}, t.rng);
    check_case(t, kernel, plain, "every path");
    MoeCase listed(kernel, {bn + 1, to_groups(kernel, 5 * k_per_stage), 3, b + 5, 2, false, true},
                   t.rng);
    listed.sort_slots(t.rng);
    listed.add_weights(t.rng);
    check_case(t, kernel, listed, "every path");
    MoeCase halves(kernel,
                   {to_halves(bn + 2), to_groups(kernel, 6 * k_per_stage), 3, b + 5, 2, true, true},
                   t.rng);
    halves.sort_slots(t.rng);
    halves.add_weights(t.rng);
    check_case(t, kernel, halves, "every path");
}

void all(Test &t, const Kernel &kernel) {
    if (t.entry) {
        MoeCase p(kernel, {kernel.number("bn") + 1, to_groups(kernel, 1), 1, 3}, t.rng);
        return check_case(t, kernel, p, "entry");
    }
    every_path(t, kernel);
    if (t.checkers)
        return;
    check_ids_of_nothing(t, kernel);
    if (!thorough(t, kernel))
        return;
    const u32 b = moe_block_size(kernel);
    sizes_of_experts(t, kernel);
    edges(t, kernel);
    check_padded(t, kernel,
                 {kernel.number("bn") + 3, to_groups(kernel, 5 * k_per_stage), 3, 40, 2});
    check_lists(t, kernel, {1, b - 1, b + 8, 3 * b});
    check_hard_values(t, kernel);
    check_non_finite(t, kernel, to_groups(kernel, 5 * k_per_stage));
    same_every_time(t, kernel);
}

} // namespace

CHECK_FAMILY(moe_prefill_w4a16) { all(t, kernel); }

CHECK_FAMILY(dot_moe_w4a16) { all(t, kernel); }
