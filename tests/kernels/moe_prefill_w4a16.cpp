// SPDX-License-Identifier: MIT
// moe_prefill_w4a16: every row of the registry, on shapes derived from the row. What a tile
// computes is prefill_w4a16's; here is which expert and whose activations it has, and what becomes
// of the results.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "check/moe_bound.h"
#include "moe_case.h"

using namespace nw;
using check::Test;

namespace {

constexpr u32 k_per_stage = 32;

u32 to_groups(const Kernel &k, u32 columns) { return round_up(columns, k.number("group")); }

// N that silu and packed zero points of this kernel allow.
u32 to_halves(u32 n) { return round_up(n, 8u); }

// Blocks of experts that have so many slots each, in order; none for an expert that has none.
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

void edges_of_n(Test &t, const Kernel &kernel) {
    const u32 bn = kernel.number("bn");
    for (u32 n : {1u, 15u, 17u, bn / 2 + 1, bn - 1, bn, bn + 1, 2 * bn + 5}) {
        MoeCase p(kernel, {n, to_groups(kernel, 1), 3, 2 * moe_block_size(kernel) + 3}, t.rng);
        check_case(t, kernel, p, "edge of n");
        MoeCase halves(kernel, {to_halves(n), to_groups(kernel, 33), 3, 35, 2, true, true}, t.rng);
        halves.sort_slots(t.rng);
        check_case(t, kernel, halves, "edge of n/2, silu");
    }
    if (kernel.param("zeros").empty()) {
        MoeCase p(kernel, {18, to_groups(kernel, 1), 2, 17, 1, true, true}, t.rng);
        check_case(t, kernel, p, "nine rows of gate");
    }
}

// One stage, two, three and more of either half of LDS; one group and several.
void edges_of_k(Test &t, const Kernel &kernel) {
    const u32 g = kernel.number("group");
    for (u32 k : {g, 2 * g, 3 * g, 5 * g, 768 + g}) {
        MoeCase p(kernel, {21, to_groups(kernel, k), 2, 2 * moe_block_size(kernel), 2}, t.rng);
        p.sort_slots(t.rng);
        check_case(t, kernel, p, "edge of k");
    }
}

// Rows, experts and the matrices' ends apart from each other, NaN between.
void padded(Test &t, const Kernel &kernel) {
    MoeCase p(kernel, {kernel.number("bn") + 3, to_groups(kernel, 5 * k_per_stage), 3, 40, 2},
              t.rng);
    for (DecodeCase &expert : p.experts) {
        expert.w_pad = 128;
        expert.s_pad = 30;
        expert.z_pad = expert.zeros == Zeros::eight ? 0 : 36;
    }
    p.expert_pad = 272;
    p.sort_slots(t.rng);
    p.add_weights(t.rng);
    check_case(t, kernel, p, "padded rows and experts");
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

void lists(Test &t, const Kernel &kernel) {
    const u32 b = moe_block_size(kernel);
    for (u32 top_k : {1u, 2u, 3u, 8u})
        for (u32 slots : {1u, b - 1, b + 8, 3 * b}) {
            MoeCase p(kernel, {37, to_groups(kernel, 1), 5, slots, top_k}, t.rng);
            check_case(t, kernel, p, "in order");
            p.add_weights(t.rng);
            p.sort_slots(t.rng);
            check_case(t, kernel, p, "sorted, weights");
        }
    MoeCase one(kernel, {8, to_groups(kernel, 1), 1, 40, 40}, t.rng);
    check_case(t, kernel, one, "one expert, one token");
}

// What the host can't see: ids of no expert and of no slot, a count that ends anywhere.
void ids_of_nothing(Test &t, const Kernel &kernel) {
    const u32 b = moe_block_size(kernel);
    MoeCase p(kernel, {37, to_groups(kernel, 1), 3, 5 * b, 2}, t.rng);
    constexpr std::array bad = {-1, 3, std::numeric_limits<i32>::min(),
                                std::numeric_limits<i32>::max()};
    for (u64 i = 0; i < p.expert_ids.size() - 1; ++i)
        p.expert_ids[i] = bad[i];
    check_case(t, kernel, p, "experts of nothing");
    MoeCase all = p;
    std::ranges::fill(all.expert_ids, -1);
    check_case(t, kernel, all, "no expert at all");

    const u32 slots = b + 8;
    MoeCase sorted(kernel, {37, to_groups(kernel, 1), 3, slots, 2}, t.rng);
    sorted.sort_slots(t.rng);
    sorted.add_weights(t.rng);
    const std::array no_slot = {static_cast<i32>(slots), static_cast<i32>(slots) + 1, -1,
                                std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max()};
    for (u64 i = 0; i < sorted.sorted_token_ids.size(); i += 3)
        sorted.sorted_token_ids[i] = no_slot[i / 3 % no_slot.size()];
    check_case(t, kernel, sorted, "slots of nothing");
    sorted.expert_ids.back() = -1; // its slots have a block already
    for (u32 used : {0u, 1u, b, 2 * b - 1, 2 * b + 1, ~0u}) {
        sorted.num_tokens_post_padded = used;
        check_case(t, kernel, sorted, "blocks past the count");
    }
}

void hard_values(Test &t, const Kernel &kernel) {
    MoeCase p(kernel, {16, to_groups(kernel, 1), 2, 2 * moe_block_size(kernel), 1, true, true},
              t.rng);
    const DecodeCase &one = p.experts[0];
    // Gates from where e^-x leaves f32 to where it is nothing: -200 to 200 by bias alone.
    std::ranges::fill(p.a, u16{0});
    constexpr std::array gates = {-200.0, -90.0, -88.0, -20.0, -1.0, 0.0, 3.0, 200.0};
    for (DecodeCase &expert : p.experts)
        for (u32 n = 0; n < gates.size(); ++n)
            expert.bias[n] = one.word(gates[n]);
    check_case(t, kernel, p, "gates of every size");

    p.add_weights(t.rng);
    p.topk_weights[0] = std::numeric_limits<f32>::quiet_NaN();
    p.topk_weights[1] = std::bit_cast<f32>(0x7fffffffu); // would carry over
    const std::vector<u16> got = run(t, kernel, p);
    const u64 columns = p.columns();
    for (const ref::MoeSlot &slot : p.reference()) {
        t.shape(fmt::format("weights that are NaN, slot {}", slot.slot));
        const bool nan = std::isnan(slot.weight);
        t.within("c", one.dtype, std::span(got).subspan(slot.slot * columns, columns),
                 nan ? std::vector<f64>(columns, NAN) : slot.c,
                 nan ? std::vector<f64>(columns) : check::moe_bound(kernel, slot));
    }
}

// A NaN among the activations of one slot is in its row of C and in no other.
void non_finite(Test &t, const Kernel &kernel) {
    const u32 slots = moe_block_size(kernel) + 2;
    MoeCase p(kernel, {33, to_groups(kernel, 5 * k_per_stage), 2, slots}, t.rng);
    const u32 hit = t.rng.below(slots);
    const std::vector<ref::MoeSlot> want = p.reference();
    p.a[u64{hit} * p.shape.k + 5] = nan_poison;
    const std::vector<u16> got = run(t, kernel, p);
    const u64 columns = p.columns();
    for (const ref::MoeSlot &slot : want) {
        t.shape(fmt::format("NaN in a of slot {}, slot {}", hit, slot.slot));
        const bool nan = slot.slot == hit;
        t.within("c", p.experts[0].dtype, std::span(got).subspan(slot.slot * columns, columns),
                 nan ? std::vector<f64>(columns, NAN) : slot.c,
                 nan ? std::vector<f64>(columns) : check::moe_bound(kernel, slot));
    }
}

// The same bits every time, whichever workgroup is first.
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

} // namespace

CHECK_FAMILY(moe_prefill_w4a16) {
    every_path(t, kernel);
    if (t.checkers)
        return;
    ids_of_nothing(t, kernel);
    if (!thorough(t, kernel))
        return;
    sizes_of_experts(t, kernel);
    edges_of_n(t, kernel);
    edges_of_k(t, kernel);
    padded(t, kernel);
    lists(t, kernel);
    hard_values(t, kernel);
    non_finite(t, kernel);
    same_every_time(t, kernel);
}
