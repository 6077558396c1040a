// SPDX-License-Identifier: MIT
// moe_perm_w4a16: to the bit what moe_w4a16 makes of activations that are permuted before, each
// slot's in its expert's order; and within the bound of the reference.
#include <fmt/format.h>

#include "moe_case.h"

using namespace nw;
using check::Test;

namespace {

constexpr u32 k_per_step = 1024;

const Kernel &plain_kernel(const Kernel &kernel) {
    const std::string symbol =
        "moe_w4a16" + std::string(kernel.symbol.substr(kernel.family.size()));
    const Kernel *plain = find_kernel(kernel.gfx, symbol);
    if (!plain)
        throw Error(fmt::format("{} {}: no such kernel to compare with", kernel.gfx, symbol));
    need_built(*plain);
    return *plain;
}

void check_product(Test &t, const Kernel &kernel, MoeCase p, const char *what,
                   std::source_location where = std::source_location::current()) {
    p.add_orders(t.rng);
    check_case(t, kernel, p, what, where);
    if (t.checkers || t.entry)
        return;
    t.shape(fmt::format("n={} k={} slots={} top_k={} {}, beside moe_w4a16", p.shape.n, p.shape.k,
                        p.shape.slots, p.shape.top_k, what));
    t.same("c", p.experts[0].dtype, run(t, kernel, p), run(t, plain_kernel(kernel), p.in_order()),
           where);
}

// One load of activations and two, whole and with tails, up to the longest row that LDS holds.
void loads(Test &t, const Kernel &kernel) {
    const u32 g = kernel.number("group"), most = 16384 / kernel.number("m");
    for (u32 k : {g, k_per_step, k_per_step + g, most / 2 + g, most - g, most}) {
        MoeCase p(kernel, {5, k, 2, 2 * kernel.number("m"), 2}, t.rng);
        p.sort_slots(t.rng);
        check_product(t, kernel, p, "loads");
    }
}

void every_path(Test &t, const Kernel &kernel) {
    const u32 m = kernel.number("m");
    MoeCase plain(kernel, {5, to_groups(kernel, 1), 3, 3 * m + 1}, t.rng);
    plain.expert_ids.back() = -1;
    check_product(t, kernel, plain, "in order");
    MoeCase p(kernel, {40, to_groups(kernel, 2 * k_per_step + 1), 3, m + 3, 2, true, true}, t.rng);
    p.sort_slots(t.rng);
    p.add_weights(t.rng);
    check_product(t, kernel, p, "sorted, SiLU, weights");
}

} // namespace

CHECK_FAMILY(moe_perm_w4a16) {
    if (t.entry) {
        MoeCase p(kernel, {kernel.rows_per_workgroup + 1, to_groups(kernel, 1), 1, 1}, t.rng);
        return check_product(t, kernel, p, "entry");
    }
    every_path(t, kernel);
    if (t.checkers || !thorough(t, kernel))
        return;
    for (const auto &shape : check::edge_shapes(kernel))
        check_product(t, kernel, MoeCase(kernel, {shape.n, shape.k, 3, 9}, t.rng), "edge");
    loads(t, kernel);
}
