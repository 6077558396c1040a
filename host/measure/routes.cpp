// SPDX-License-Identifier: MIT
#include "measure/routes.h"

#include <set>

namespace nw {

std::vector<i32> random_routes(u32 tokens, u32 experts, u32 top_k, Rng rng) {
    std::vector<i32> out;
    for (u32 token = 0; token < tokens; ++token) {
        std::set<i32> mine;
        while (mine.size() < top_k)
            mine.insert(static_cast<i32>(rng.below(experts)));
        out.insert(out.end(), mine.begin(), mine.end());
    }
    return out;
}

std::vector<u32> slots_of_experts(std::span<const i32> routes, u32 experts) {
    std::vector<u32> out(experts);
    for (i32 expert : routes)
        ++out[static_cast<u32>(expert)];
    return out;
}

} // namespace nw
