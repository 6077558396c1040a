// SPDX-License-Identifier: MIT
#include "ref/moe_permute_a.h"

#include "ref/need_size.h"

namespace nw::ref {

namespace {

void check(const MoePermuteA &p) {
    need_size("a", p.a.size(), ceil_div<u64>(p.slots, p.top_k) * p.k);
    need_size("perm", p.perm.size(), p.perm.size() / p.k * p.k);
    if (!p.sorted_token_ids.empty())
        need_size("sorted_token_ids", p.sorted_token_ids.size(),
                  p.expert_ids.size() * p.block_size);
}

} // namespace

std::vector<u16> moe_permute_a(const MoePermuteA &p, u16 untouched) {
    check(p);
    std::vector<u16> y(u64{p.slots} * p.k, untouched);
    const i64 experts = static_cast<i64>(p.perm.size() / p.k);
    for (u64 at = 0; at < p.expert_ids.size() * p.block_size; ++at) {
        const u64 block = at / p.block_size;
        const i64 expert = p.expert_ids[block],
                  slot = p.sorted_token_ids.empty() ? static_cast<i64>(at) : p.sorted_token_ids[at];
        if (expert < 0 || expert >= experts || slot < 0 || slot >= i64{p.slots})
            continue;
        if (p.num_tokens_post_padded && block * p.block_size >= *p.num_tokens_post_padded)
            continue;
        const auto row = p.a.subspan(static_cast<u64>(slot) / p.top_k * p.k, p.k);
        const auto order = p.perm.subspan(static_cast<u64>(expert) * p.k, p.k);
        for (u64 k = 0; k < p.k; ++k)
            y[static_cast<u64>(slot) * p.k + k] = row[order[k]];
    }
    return y;
}

} // namespace nw::ref
