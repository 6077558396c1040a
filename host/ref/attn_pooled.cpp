// SPDX-License-Identifier: MIT
#include "ref/attn_pooled.h"

#include <cmath>

#include "base/half.h"

namespace nw::ref {

AttnPooled attn_pooled(Dtype dtype, const AttnMeans &p, f32 scale) {
    AttnPooled out;
    for (u32 b = 0; b < p.batch; ++b)
        for (u32 h = 0; h < p.heads; ++h)
            for (u32 m = 0; m < p.blocks.of_queries(); ++m)
                for (u32 n = 0; n < p.blocks.of_keys(); ++n) {
                    const u64 kv = h / (p.heads / p.kv_heads);
                    const u64 q = ((u64{b} * p.blocks.of_queries() + m) * p.heads + h) * p.dim;
                    const u64 k = ((u64{b} * p.blocks.of_keys() + n) * p.kv_heads + kv) * p.dim;
                    f64 dot = 0, products = 0;
                    for (u32 d = 0; d < p.dim && n <= p.blocks.last(m); ++d) {
                        const f64 product =
                            f64{to_f32(dtype, p.q[q + d])} * to_f32(dtype, p.k[k + d]);
                        dot += product;
                        products += std::abs(product);
                    }
                    out.score.push_back(scale * dot);
                    out.products.push_back(scale * products);
                }
    return out;
}

} // namespace nw::ref
