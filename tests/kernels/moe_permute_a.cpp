// SPDX-License-Identifier: MIT
// moe_permute_a: each slot's activations where its expert's list has them; slots that are none, and
// blocks of no expert, leave y as it was.
#include <array>
#include <fmt/format.h>
#include <limits>

#include "check/check.h"
#include "check/ops.h"
#include "permutation.h"
#include "ref/moe_align.h"
#include "ref/moe_permute_a.h"

using namespace nw;
using check::Test;

namespace {

struct Shape {
    u32 k, block_size, experts, slots, top_k = 1;
};

struct Case {
    Shape shape;
    std::vector<u16> a;
    std::vector<u32> perm;
    std::vector<i32> expert_ids, sorted_token_ids;
    std::optional<u32> used;

    // Slots in order, in blocks of experts that are drawn.
    Case(const Shape &of, Rng &rng) : shape(of), a(ceil_div<u64>(of.slots, of.top_k) * of.k) {
        for (u16 &x : a)
            x = static_cast<u16>(rng.below(1 << 16)); // NaN too: these are bits
        for (u32 e = 0; e < of.experts; ++e)
            for (const u32 at : permutation(of.k, rng))
                perm.push_back(at);
        for (u32 block = 0; block < ceil_div(of.slots, of.block_size); ++block)
            expert_ids.push_back(static_cast<i32>(rng.below(of.experts)));
    }

    // In the blocks of moe_align; of some slots no expert.
    void sort_slots(Rng &rng) {
        std::vector<i32> chosen(shape.slots);
        for (i32 &expert : chosen)
            expert = static_cast<i32>(rng.below(shape.experts + 1)) - 1;
        const u32 room = ceil_div(shape.slots, shape.block_size) + shape.experts;
        ref::MoeLists lists = ref::moe_align(chosen, shape.experts, shape.block_size, room);
        expert_ids = lists.expert_ids, sorted_token_ids = lists.sorted_token_ids;
        used = static_cast<u32>(lists.num_tokens_post_padded);
    }

    std::vector<u16> reference() const {
        return ref::moe_permute_a({shape.k, shape.block_size, shape.slots, shape.top_k, a, perm,
                                   expert_ids, sorted_token_ids, used},
                                  nan_poison);
    }
};

Op op_of(const Shape &shape, u64 blocks) {
    Op op{.kind = OpKind::moe_permute_a};
    op.k = shape.k, op.block_size = shape.block_size, op.experts = shape.experts;
    op.slots = shape.slots, op.top_k = shape.top_k, op.blocks = blocks;
    return op;
}

void check_case(Test &t, const Kernel &kernel, const Case &p, const char *what,
                std::source_location where = std::source_location::current()) {
    const Shape &s = p.shape;
    t.shape(fmt::format("k={} block_size={} experts={} slots={} top_k={} {}", s.k, s.block_size,
                        s.experts, s.slots, s.top_k, what));
    const std::vector<u32> count(p.used ? 1 : 0, p.used.value_or(0));
    const check::Region a = t.region<u16>(p.a), perm = t.region<u32>(p.perm),
                        experts = t.region<i32>(p.expert_ids),
                        slots = t.region<i32>(p.sorted_token_ids), used = t.region<u32>(count),
                        y = t.region<u16>(std::vector<u16>(u64{s.slots} * s.k, nan_poison));
    const auto given = [](const check::Region &region) {
        return region.size() ? address(region.data()) : 0;
    };
    Op op = op_of(s, p.expert_ids.size());
    op.a = given(a), op.perm = given(perm), op.y = given(y), op.expert_ids = given(experts);
    op.sorted_token_ids = given(slots), op.num_tokens_post_padded = given(used);
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("a", a, where);
    t.unchanged("perm", perm, where);
    t.unchanged("expert_ids", experts, where);
    t.unchanged("sorted_token_ids", slots, where);
    t.unchanged("num_tokens_post_padded", used, where);
    t.guards_clean("y", y, where);
    t.same("y", Dtype::f16, y.read_as<u16>(), p.reference(), where);
}

void both_orders(Test &t, const Kernel &kernel, const Shape &shape, const char *what) {
    Case p(shape, t.rng);
    check_case(t, kernel, p, what);
    p.sort_slots(t.rng);
    check_case(t, kernel, p, what);
}

constexpr i32 least = std::numeric_limits<i32>::min(), most = std::numeric_limits<i32>::max();

void ids_of_nothing(Test &t, const Kernel &kernel) {
    const u32 slots = 37, b = 4;
    Case experts({64, b, 3, slots, 2}, t.rng);
    constexpr std::array bad = {-1, 3, least, most};
    for (u64 i = 0; i < bad.size(); ++i)
        experts.expert_ids[2 * i] = bad[i];
    check_case(t, kernel, experts, "experts of nothing");
    Case p({64, b, 3, slots, 2}, t.rng);
    p.sort_slots(t.rng);
    constexpr std::array none = {static_cast<i32>(slots), static_cast<i32>(slots) + 1, -1, least,
                                 most};
    for (u64 i = 0; i < p.sorted_token_ids.size(); i += 3)
        p.sorted_token_ids[i] = none[i / 3 % none.size()];
    check_case(t, kernel, p, "slots of nothing");
    for (u32 used : {0u, 1u, b, 2 * b - 1, 2 * b + 1, ~0u}) {
        p.used = used;
        check_case(t, kernel, p, "blocks past the count");
    }
}

} // namespace

CHECK_FAMILY(moe_permute_a) {
    if (t.entry)
        return check_case(t, kernel, Case({64, 1, 2, 3, 1}, t.rng), "entry");
    for (const auto &shape : check::edge_shapes(kernel))
        both_orders(t, kernel, {shape.k, 2, 3, 5, 2}, "edge");
    for (u32 block_size : {1u, 2u, 4u, 8u, 16u, 32u, 64u})
        for (u32 top_k : {1u, 3u, 8u})
            both_orders(t, kernel, {32, block_size, 5, 67, top_k}, "blocks");
    ids_of_nothing(t, kernel);
    if (t.checkers)
        return;
    both_orders(t, kernel, {4096, 4, 3, 9, 2}, "pieces");
    both_orders(t, kernel, {32768, 2, 2, 3, 3}, "the longest row");
    Case backwards({2048, 4, 2, 8, 2}, t.rng); // lists that are no permutation
    std::ranges::fill(backwards.perm, 2047);
    check_case(t, kernel, backwards, "one activation");
}
