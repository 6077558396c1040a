// SPDX-License-Identifier: MIT
#include "moe_case.h"

#include <fmt/format.h>

#include "check/moe_bound.h"

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

std::vector<ref::MoeSlot> MoeCase::reference() const {
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
    launch(t.modules, kernel,
           MoeW4A16{.dtype = one.dtype,
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
                    .z_expert = z_stack.expert});
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

} // namespace nw
