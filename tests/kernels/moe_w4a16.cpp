// SPDX-License-Identifier: MIT
// moe_w4a16: every row of the registry, on shapes derived from the row. What a workgroup computes
// is decode_w4a16's; here is which workgroup computes what, and what becomes of it.
#include <set>

#include "moe_case.h"

using namespace nw;
using check::Test;

namespace {

constexpr u32 k_per_step = 1024;
constexpr u32 chunk_words = 8192; // activations a workgroup can stage at once, all slots together

void edges(Test &t, const Kernel &kernel) {
    std::set<u32> seen;
    for (const auto &shape : check::edge_shapes(kernel)) {
        MoeCase p(kernel, {shape.n, shape.k, 3, 9}, t.rng);
        check_case(t, kernel, p, "edge");
        MoeCase halves(kernel,
                       {to_halves(shape.n), to_groups(kernel, k_per_step + 1), 3, 9, 2, true, true},
                       t.rng);
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

// Each path once: one stage, a second and a third.
void every_path(Test &t, const Kernel &kernel) {
    const u32 m = kernel.number("m"), g = to_groups(kernel, 1);
    for (u32 chunks : {3, 6}) {
        const u32 k = to_groups(kernel, chunks * chunk_words / m + k_per_step);
        check_case(t, kernel, MoeCase(kernel, {5, k, 2, m + 1}, t.rng), "every path");
    }
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
    if (t.entry) {
        MoeCase p(kernel, {kernel.rows_per_workgroup + 1, to_groups(kernel, 1), 1, 1}, t.rng);
        return check_case(t, kernel, p, "entry");
    }
    every_path(t, kernel);
    if (t.checkers)
        return;
    check_ids_of_nothing(t, kernel);
    if (!thorough(t, kernel))
        return;
    edges(t, kernel);
    edges_of_k(t, kernel);
    check_padded(t, kernel,
                 {kernel.rows_per_workgroup + 3, to_groups(kernel, k_per_step + 1), 3, 10, 2});
    check_lists(t, kernel, {1, 8, 13, 24});
    check_hard_values(t, kernel);
    check_non_finite(t, kernel, to_groups(kernel, k_per_step + 1));
}
