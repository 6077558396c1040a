// SPDX-License-Identifier: MIT
// moe_w4a16: every row of the registry, on shapes derived from the row. What a workgroup computes
// is decode_w4a16's; here is which workgroup computes what, and what becomes of it.
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

constexpr u32 k_per_step = 1024;
constexpr u32 chunk_words = 8192; // activations a workgroup can stage at once, all slots together

u32 to_groups(const Kernel &k, u32 columns) { return round_up(columns, k.number("group")); }

// N that silu and packed zero points of this kernel allow.
u32 to_halves(u32 n) { return round_up(n, 8u); }

void edges_of_n(Test &t, const Kernel &kernel) {
    for (u32 n : check::edges(kernel.rows_per_workgroup)) {
        MoeCase p(kernel, {n, to_groups(kernel, 1), 3, 9}, t.rng);
        check_case(t, kernel, p, "edge of n");
        MoeCase halves(
            kernel, {to_halves(n), to_groups(kernel, k_per_step + 1), 3, 9, 2, true, true}, t.rng);
        halves.sort_slots(t.rng);
        check_case(t, kernel, halves, "edge of n/2, silu");
    }
    if (kernel.param("zeros").empty()) {
        MoeCase p(kernel, {18, to_groups(kernel, 1), 2, 3, 1, true}, t.rng);
        check_case(t, kernel, p, "nine rows of gate");
    }
}

void edges_of_k(Test &t, const Kernel &kernel) {
    const u32 g = kernel.number("group"),
              chunk = to_groups(kernel, chunk_words / kernel.number("m"));
    for (u32 k : {g, 2 * g, k_per_step - g, k_per_step, k_per_step + g, chunk, chunk + g,
                  2 * chunk + k_per_step + g, to_groups(kernel, 2880)}) {
        MoeCase p(kernel, {5, k, 2, 2 * kernel.number("m"), 2}, t.rng);
        p.sort_slots(t.rng);
        check_case(t, kernel, p, "edge of k");
    }
}

// Rows, experts and the matrices' ends apart from each other, NaN between.
void padded(Test &t, const Kernel &kernel) {
    MoeCase p(kernel, {kernel.rows_per_workgroup + 3, to_groups(kernel, k_per_step + 1), 3, 10, 2},
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

// Slots of one token at many experts, and the other way round; blocks of every size, full or not.
void lists(Test &t, const Kernel &kernel) {
    for (u32 top_k : {1u, 2u, 3u, 8u}) {
        for (u32 slots : {1u, 8u, 13u, 24u}) {
            MoeCase p(kernel, {37, to_groups(kernel, 1), 5, slots, top_k}, t.rng);
            check_case(t, kernel, p, "in order");
            p.add_weights(t.rng);
            p.sort_slots(t.rng);
            check_case(t, kernel, p, "sorted, weights");
        }
    }
    MoeCase one(kernel, {8, to_groups(kernel, 1), 1, 40, 40}, t.rng);
    check_case(t, kernel, one, "one expert, one token");
}

// What the host can't see: ids of no expert and of no slot, a count that ends anywhere.
void ids_of_nothing(Test &t, const Kernel &kernel) {
    MoeCase p(kernel, {37, to_groups(kernel, 1), 3, 24, 2}, t.rng);
    constexpr i32 bad[] = {-1, 3, std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max()};
    for (u64 i = 0; i < p.expert_ids.size(); ++i)
        if (i % 3 == 1)
            p.expert_ids[i] = bad[i / 3 % 4];
    check_case(t, kernel, p, "experts of nothing");
    MoeCase all = p;
    std::ranges::fill(all.expert_ids, -1);
    check_case(t, kernel, all, "no expert at all");

    MoeCase sorted(kernel, {37, to_groups(kernel, 1), 3, 24, 2}, t.rng);
    sorted.sort_slots(t.rng);
    sorted.add_weights(t.rng);
    constexpr i32 no_slot[] = {24, 25, -1, std::numeric_limits<i32>::min(),
                               std::numeric_limits<i32>::max()};
    for (u64 i = 0; i < sorted.sorted_token_ids.size(); i += 3)
        sorted.sorted_token_ids[i] = no_slot[i / 3 % 5];
    check_case(t, kernel, sorted, "slots of nothing");
    sorted.expert_ids.back() = -1; // its slots have a block already
    for (u32 used : {0u, 1u, p.block_size, 2 * p.block_size - 1, 2 * p.block_size + 1, ~0u}) {
        sorted.num_tokens_post_padded = used;
        check_case(t, kernel, sorted, "blocks past the count");
    }
}

// The order of the slots in a block must not matter, nor that a slot's neighbour is hard.
void hard_values(Test &t, const Kernel &kernel) {
    const u32 m = kernel.number("m");
    MoeCase p(kernel, {16, to_groups(kernel, 1), 2, 2 * m, 1, true, true}, t.rng);
    const DecodeCase &one = p.experts[0];
    // Gates from where e^-x leaves f32 to where it is nothing: -200 to 200 by bias alone.
    std::ranges::fill(p.a, u16{0});
    for (DecodeCase &expert : p.experts)
        for (u32 n = 0; n < 8; ++n)
            expert.bias[n] =
                one.word(std::array{-200.0, -90.0, -88.0, -20.0, -1.0, 0.0, 3.0, 200.0}[n]);
    check_case(t, kernel, p, "gates of every size");

    p.add_weights(t.rng);
    p.topk_weights[0] = std::numeric_limits<f32>::quiet_NaN();
    p.topk_weights[1 % p.topk_weights.size()] = std::bit_cast<f32>(0x7fffffffu); // would carry over
    const std::vector<u16> got = run(t, kernel, p);
    const u64 columns = p.columns();
    for (const ref::MoeSlot &slot : p.reference())
        if (std::isnan(slot.weight))
            t.within("c of a slot whose weight is NaN", one.dtype,
                     std::span(got).subspan(slot.slot * columns, columns),
                     std::vector<f64>(columns, NAN), std::vector<f64>(columns));
}

// A NaN among the activations of one slot is in its row of C and in no other.
void non_finite(Test &t, const Kernel &kernel) {
    MoeCase p(kernel, {33, to_groups(kernel, k_per_step + 1), 2, 8}, t.rng);
    const u32 hit = t.rng.below(8);
    std::vector<ref::MoeSlot> want = p.reference();
    p.a[u64{hit} * p.shape.k + 5] = nan_poison;
    const std::vector<u16> got = run(t, kernel, p);
    for (ref::MoeSlot &slot : want) {
        t.shape(fmt::format("NaN in a of slot {}, slot {}", hit, slot.slot));
        const std::vector<f64> exact =
            slot.slot == hit ? std::vector<f64>(p.columns(), NAN) : slot.c;
        const std::vector<f64> bound =
            slot.slot == hit ? std::vector<f64>(p.columns()) : check::moe_bound(kernel, slot);
        t.within("c", p.experts[0].dtype,
                 std::span(got).subspan(u64{slot.slot} * p.columns(), p.columns()), exact, bound);
    }
}

// Each path once.
void every_path(Test &t, const Kernel &kernel) {
    const u32 m = kernel.number("m"), g = to_groups(kernel, 1);
    MoeCase plain(kernel, {5, g, 2, 2 * m + 1}, t.rng);
    plain.expert_ids.back() = -1;
    check_case(t, kernel, plain, "every path");
    MoeCase p(kernel,
              {40, to_groups(kernel, chunk_words / m + k_per_step), 3, m + 3, 2, true, true},
              t.rng);
    p.sort_slots(t.rng);
    p.add_weights(t.rng);
    check_case(t, kernel, p, "every path");
}

} // namespace

CHECK_FAMILY(moe_w4a16) {
    every_path(t, kernel);
    if (t.checkers)
        return;
    ids_of_nothing(t, kernel);
    if (!thorough(t, kernel))
        return;
    edges_of_n(t, kernel);
    edges_of_k(t, kernel);
    padded(t, kernel);
    lists(t, kernel);
    hard_values(t, kernel);
    non_finite(t, kernel);
}
