// SPDX-License-Identifier: MIT
#include "ref/topk_moe.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nw::ref {

Route topk_moe(std::span<const f32> logits, u32 top_k, bool normed, f32 least, f32 scale) {
    const f64 most = *std::ranges::max_element(logits);
    f64 all = 0;
    for (const f32 x : logits)
        all += std::exp(x - most);
    std::vector<i32> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](i32 a, i32 b) {
        return logits[static_cast<u64>(a)] > logits[static_cast<u64>(b)];
    });
    Route out{{order.begin(), order.begin() + top_k}, {}};
    f64 sum = 0;
    for (const i32 id : out.ids) {
        out.weights.push_back(std::exp(logits[static_cast<u64>(id)] - most) / all);
        sum += out.weights.back();
    }
    for (f64 &weight : out.weights)
        weight *= scale / (normed ? std::max(sum, f64{least}) : 1.0);
    return out;
}

std::vector<f32> moe_sum(std::span<const f32> x, std::span<const f32> w, std::span<const f32> bias,
                         u32 k) {
    std::vector<f32> out(k);
    for (u64 i = 0; i < k; ++i) {
        out[i] = x[i] * w[0];
        for (u64 e = 1; e < w.size(); ++e) {
            const f32 product = x[e * k + i] * w[e];
            out[i] += product;
        }
        if (!bias.empty())
            out[i] += bias[i];
    }
    return out;
}

} // namespace nw::ref
