// SPDX-License-Identifier: MIT
#include "moe_case.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "check/moe_bound.h"
#include "permutation.h"

namespace nw {

namespace {

// The experts' rows one after the other, NaN between.
struct Stack {
    u64 stride = 0, expert = 0;
    std::vector<u8> bytes;
};

Stack stack(const MoeCase &p, Rows (*rows)(const DecodeCase &)) {
    Stack out;
    for (const DecodeCase &expert : p.experts) {
        const Rows one = rows(expert);
        if (one.bytes.empty()) // zero points of a kernel that takes none
            return {};
        out.stride = one.stride;
        out.expert = one.bytes.size() + p.expert_pad;
        out.bytes.insert(out.bytes.end(), one.bytes.begin(), one.bytes.end());
        out.bytes.insert(out.bytes.end(), p.expert_pad, u8{0xff});
    }
    return out;
}

// Lists go on behind the last block: one that was taken for another would spoil slot 0.
std::vector<i32> and_more(std::vector<i32> list, u64 count) {
    if (!list.empty())
        list.resize(list.size() + count, 0);
    return list;
}

std::vector<u16> biases(const MoeCase &p) {
    std::vector<u16> out;
    for (const DecodeCase &expert : p.experts)
        out.insert(out.end(), expert.bias.begin(), expert.bias.end());
    return out;
}

} // namespace

MoeCase::MoeCase(const Kernel &kernel, const MoeShape &of, Rng &rng)
    : shape(of), block_size(moe_block_size(kernel)), a(ceil_div<u64>(of.slots, of.top_k) * of.k) {
    for (u32 e = 0; e < of.experts; ++e) {
        experts.emplace_back(kernel, 1, of.n, of.k, rng);
        if (of.bias)
            experts.back().add_bias(rng);
    }
    for (u16 &x : a)
        x = experts[0].word(rng.normal());
    for (u32 block = 0; block < ceil_div(of.slots, block_size); ++block)
        expert_ids.push_back(static_cast<i32>(rng.below(of.experts)));
}

void MoeCase::sort_slots(Rng &rng) {
    std::vector<std::vector<i32>> of_expert(shape.experts);
    for (u32 slot = 0; slot < shape.slots; ++slot)
        of_expert[rng.below(shape.experts)].push_back(static_cast<i32>(slot));
    const i32 nothing = static_cast<i32>(shape.slots);
    expert_ids.clear();
    sorted_token_ids.clear();
    for (u32 e = 0; e < shape.experts; ++e) {
        std::vector<i32> &slots = of_expert[e];
        slots.resize(round_up<u64>(slots.size(), block_size), nothing);
        sorted_token_ids.insert(sorted_token_ids.end(), slots.begin(), slots.end());
        expert_ids.resize(sorted_token_ids.size() / block_size, static_cast<i32>(e));
    }
    num_tokens_post_padded = static_cast<u32>(sorted_token_ids.size());
    sorted_token_ids.resize(sorted_token_ids.size() + block_size, 0); // would spoil slot 0
    expert_ids.push_back(0);
}

void MoeCase::add_weights(Rng &rng) {
    topk_weights.resize(shape.slots);
    for (f32 &x : topk_weights)
        x = rng.unit();
}

void MoeCase::add_orders(Rng &rng) {
    for (u32 e = 0; e < shape.experts; ++e) {
        const std::vector<u32> one = permutation(shape.k, rng);
        perm.insert(perm.end(), one.begin(), one.end());
    }
}

MoeCase MoeCase::in_order() const {
    MoeCase out = *this;
    out.perm.clear();
    out.shape.top_k = 1;
    out.a.assign(u64{shape.slots} * shape.k, 0);
    const u64 entries =
        std::min<u64>(expert_ids.size() * block_size, num_tokens_post_padded.value_or(~u32{0}));
    for (u64 at = 0; at < entries; ++at) {
        const u64 slot = sorted_token_ids.empty() ? at : static_cast<u32>(sorted_token_ids[at]),
                  expert = static_cast<u32>(expert_ids[at / block_size]);
        if (slot >= shape.slots || expert >= shape.experts)
            continue;
        const std::span row = std::span(a).subspan(slot / shape.top_k * shape.k, shape.k);
        for (u64 k = 0; k < shape.k; ++k)
            out.a[slot * shape.k + k] = row[perm[expert * shape.k + k]];
    }
    return out;
}

std::vector<ref::MoeSlot> MoeCase::reference() const {
    if (!perm.empty())
        return in_order().reference();
    std::vector<ref::Expert> of;
    for (const DecodeCase &expert : experts)
        of.push_back({expert.q, expert.s, expert.bias, expert.z});
    return ref::moe_w4a16({experts[0].dtype, shape.n, shape.k, experts[0].group, block_size,
                           shape.slots, shape.top_k, shape.silu_gate_up, a, of, expert_ids,
                           sorted_token_ids, topk_weights, num_tokens_post_padded});
}

std::vector<u16> run(check::Test &t, const Kernel &kernel, const MoeCase &p) {
    const DecodeCase &one = p.experts[0];
    const Stack w_stack = stack(p, weight_rows), s_stack = stack(p, scale_rows),
                z_stack = stack(p, zero_rows);
    const auto a = t.region<u16>(p.a);
    const auto w = t.region<u8>(w_stack.bytes);
    const auto s = t.region<u8>(s_stack.bytes);
    const auto z = t.region<u8>(z_stack.bytes);
    const auto bias = t.region<u16>(biases(p));
    const auto experts = t.region<i32>(and_more(p.expert_ids, 8));
    const auto slots = t.region<i32>(and_more(p.sorted_token_ids, 8 * p.block_size));
    const auto weights = t.region<f32>(p.topk_weights);
    const std::vector<u32> count(p.num_tokens_post_padded ? 1 : 0,
                                 p.num_tokens_post_padded.value_or(0));
    const auto used = t.region<u32>(count);
    const auto c = t.region<u16>(std::vector<u16>(u64{p.shape.slots} * p.columns(), nan_poison));
    const auto given = [](const check::Region &region) {
        return region.size() ? region.data() : nullptr;
    };
    const auto perm = t.region<u32>(p.perm);
    Op op = MoeW4A16{.dtype = one.dtype,
                     .n = p.shape.n,
                     .k = p.shape.k,
                     .group = one.group,
                     .experts = p.shape.experts,
                     .block_size = p.block_size,
                     .blocks = static_cast<u32>(p.expert_ids.size()),
                     .slots = p.shape.slots,
                     .top_k = p.shape.top_k,
                     .silu_gate_up = p.shape.silu_gate_up,
                     .a = a.data(),
                     .w = w.data(),
                     .s = s.data(),
                     .bias = given(bias),
                     .c = c.data(),
                     .expert_ids = experts.data(),
                     .sorted_token_ids = given(slots),
                     .topk_weights = given(weights),
                     .num_tokens_post_padded = given(used),
                     .w_stride = w_stack.stride,
                     .w_expert = w_stack.expert,
                     .s_stride = s_stack.stride,
                     .s_expert = s_stack.expert,
                     .zeros = one.zeros,
                     .z = given(z),
                     .z_stride = z_stack.stride,
                     .z_expert = z_stack.expert};
    if (!p.perm.empty()) {
        op.kind = OpKind::permuted_moe_w4a16;
        op.perm = address(perm.data());
    }
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    t.guards_clean("c", c);
    t.unchanged("a", a);
    t.unchanged("w", w);
    t.unchanged("s", s);
    t.unchanged("z", z);
    t.unchanged("bias", bias);
    t.unchanged("expert_ids", experts);
    t.unchanged("sorted_token_ids", slots);
    t.unchanged("topk_weights", weights);
    t.unchanged("num_tokens_post_padded", used);
    t.unchanged("perm", perm);
    return c.read_as<u16>();
}

void check_case(check::Test &t, const Kernel &kernel, const MoeCase &p, const char *what,
                std::source_location where) {
    const u64 columns = p.columns();
    std::vector<u16> got = run(t, kernel, p);
    for (const ref::MoeSlot &slot : p.reference()) {
        t.shape(fmt::format("block_size={} n={} k={} experts={} slots={} top_k={} silu={} bias={} "
                            "slot {} {}",
                            p.block_size, p.shape.n, p.shape.k, p.shape.experts, p.shape.slots,
                            p.shape.top_k, p.shape.silu_gate_up, p.shape.bias, slot.slot, what));
        const auto row = std::span(got).subspan(slot.slot * columns, columns);
        t.within("c", p.experts[0].dtype, row, slot.c, check::moe_bound(kernel, slot), where);
        std::fill(row.begin(), row.end(), nan_poison);
    }
    t.shape(fmt::format("rows of no slot, {}", what));
    t.same("c", p.experts[0].dtype, got, std::vector<u16>(got.size(), nan_poison), where);
}

void check_padded(check::Test &t, const Kernel &kernel, const MoeShape &shape) {
    MoeCase p(kernel, shape, t.rng);
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

void check_lists(check::Test &t, const Kernel &kernel, std::initializer_list<u32> slots) {
    for (u32 top_k : {1u, 2u, 3u, 8u})
        for (u32 count : slots) {
            MoeCase p(kernel, {37, to_groups(kernel, 1), 5, count, top_k}, t.rng);
            check_case(t, kernel, p, "in order");
            p.add_weights(t.rng);
            p.sort_slots(t.rng);
            check_case(t, kernel, p, "sorted, weights");
        }
    MoeCase one(kernel, {8, to_groups(kernel, 1), 1, 40, 40}, t.rng);
    check_case(t, kernel, one, "one expert, one token");
}

namespace {

constexpr i32 least = std::numeric_limits<i32>::min(), most = std::numeric_limits<i32>::max();

void experts_of_nothing(check::Test &t, const Kernel &kernel) {
    const u32 slots = std::max(24u, 5 * moe_block_size(kernel)); // five blocks at least
    MoeCase p(kernel, {37, to_groups(kernel, 1), 3, slots, 2}, t.rng);
    constexpr std::array bad = {-1, 3, least, most};
    for (u64 i = 0; i < p.expert_ids.size(); ++i)
        if (i % 5 < bad.size())
            p.expert_ids[i] = bad[i % 5];
    check_case(t, kernel, p, "experts of nothing");
    std::ranges::fill(p.expert_ids, -1);
    check_case(t, kernel, p, "no expert at all");
}

void slots_of_nothing(check::Test &t, const Kernel &kernel) {
    const u32 b = moe_block_size(kernel), slots = std::max(24u, b + 8);
    MoeCase p(kernel, {37, to_groups(kernel, 1), 3, slots, 2}, t.rng);
    p.sort_slots(t.rng);
    p.add_weights(t.rng);
    const std::array bad = {static_cast<i32>(slots), static_cast<i32>(slots) + 1, -1, least, most};
    for (u64 i = 0; i < p.sorted_token_ids.size(); i += 3)
        p.sorted_token_ids[i] = bad[i / 3 % bad.size()];
    check_case(t, kernel, p, "slots of nothing");
    p.expert_ids.back() = -1; // its slots have a block already
    for (u32 used : {0u, 1u, b, 2 * b - 1, 2 * b + 1, ~0u}) {
        p.num_tokens_post_padded = used;
        check_case(t, kernel, p, "blocks past the count");
    }
}

// run(), where the rows of slots of which `is_nan` is true must be NaN, and the others as `slots`
// have them.
void check_nan_rows(check::Test &t, const Kernel &kernel, const MoeCase &p,
                    const std::vector<ref::MoeSlot> &slots, const char *what, auto is_nan) {
    const std::vector<u16> got = run(t, kernel, p);
    const u64 columns = p.columns();
    for (const ref::MoeSlot &slot : slots) {
        const bool nan = is_nan(slot);
        t.shape(fmt::format("{}, slot {}, {}", what, slot.slot, nan ? "NaN" : "not NaN"));
        t.within("c", p.experts[0].dtype, std::span(got).subspan(slot.slot * columns, columns),
                 nan ? std::vector<f64>(columns, NAN) : slot.c,
                 nan ? std::vector<f64>(columns) : check::moe_bound(kernel, slot));
    }
}

} // namespace

void check_ids_of_nothing(check::Test &t, const Kernel &kernel) {
    experts_of_nothing(t, kernel);
    slots_of_nothing(t, kernel);
}

void check_hard_values(check::Test &t, const Kernel &kernel) {
    MoeCase p(kernel, {16, to_groups(kernel, 1), 2, 2 * moe_block_size(kernel), 1, true, true},
              t.rng);
    std::ranges::fill(p.a, u16{0}); // gates are their bias
    constexpr std::array gates = {-200.0, -90.0, -88.0, -20.0, -1.0, 0.0, 3.0, 200.0};
    for (DecodeCase &expert : p.experts)
        for (u32 n = 0; n < gates.size(); ++n)
            expert.bias[n] = expert.word(gates[n]);
    check_case(t, kernel, p, "gates of every size");

    p.add_weights(t.rng);
    p.topk_weights[0] = std::numeric_limits<f32>::quiet_NaN();
    p.topk_weights[1] = std::bit_cast<f32>(0x7fffffffu); // would carry over
    check_nan_rows(t, kernel, p, p.reference(), "weights that are NaN",
                   [](const ref::MoeSlot &slot) { return std::isnan(slot.weight); });
}

void check_non_finite(check::Test &t, const Kernel &kernel, u32 k) {
    const u32 slots = std::max(8u, moe_block_size(kernel) + 2); // a whole block and more
    MoeCase p(kernel, {33, k, 2, slots}, t.rng);
    const u32 hit = t.rng.below(slots);
    const std::vector<ref::MoeSlot> clean = p.reference();
    p.a[u64{hit} * p.shape.k + 5] = nan_poison;
    check_nan_rows(t, kernel, p, clean, "NaN among the activations",
                   [&](const ref::MoeSlot &slot) { return slot.slot == hit; });
}

} // namespace nw
