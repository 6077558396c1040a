// SPDX-License-Identifier: MIT
#include "ref/moe.h"

#include <cmath>
#include <fmt/format.h>

#include "base/error.h"
#include "ref/need_size.h"

namespace nw::ref {

namespace {

void check(const MoeW4A16 &p) {
    need_size("a", p.a.size(), ceil_div<u64>(p.slots, p.top_k) * p.k);
    if (!p.sorted_token_ids.empty())
        need_size("sorted_token_ids", p.sorted_token_ids.size(),
                  p.expert_ids.size() * p.block_size);
    if (!p.topk_weights.empty())
        need_size("topk_weights", p.topk_weights.size(), p.slots);
    if (p.silu_gate_up && p.n % 2)
        throw Error(fmt::format("n = {}: gate and up must have the same number of rows", p.n));
}

MoeSlot run_slot(const MoeW4A16 &p, const Expert &expert, u32 slot) {
    const u64 token = slot / p.top_k;
    MoeSlot out{slot,
                {p.dtype, 1, p.n, p.k, p.group, p.a.subspan(token * p.k, p.k), expert.q, expert.s,
                 expert.bias, expert.z},
                {},
                p.topk_weights.empty() ? 1 : p.topk_weights[slot],
                {}};
    out.y = decode_w4a16(out.product);
    const std::vector<f64> &y = out.y.c;
    const u32 columns = p.silu_gate_up ? p.n / 2 : p.n;
    for (u32 n = 0; n < columns; ++n)
        out.c.push_back(out.weight * (p.silu_gate_up ? silu(y[n]) * y[n + columns] : y[n]));
    return out;
}

} // namespace

f64 silu(f64 x) { return x / (1 + std::exp(-x)); }

std::vector<MoeSlot> moe_w4a16(const MoeW4A16 &p) {
    check(p);
    std::vector<MoeSlot> out;
    for (u64 block = 0; block < p.expert_ids.size(); ++block) {
        const i64 expert = p.expert_ids[block];
        const u64 first = block * p.block_size;
        if (expert < 0 || expert >= static_cast<i64>(p.experts.size()) ||
            (p.num_tokens_post_padded && first >= *p.num_tokens_post_padded))
            continue;
        for (u64 i = first; i < first + p.block_size; ++i) {
            const i64 slot =
                p.sorted_token_ids.empty() ? static_cast<i64>(i) : p.sorted_token_ids[i];
            if (slot >= 0 && slot < i64{p.slots})
                out.push_back(
                    run_slot(p, p.experts[static_cast<u64>(expert)], static_cast<u32>(slot)));
        }
    }
    return out;
}

} // namespace nw::ref
