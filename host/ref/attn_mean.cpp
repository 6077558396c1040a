// SPDX-License-Identifier: MIT
#include "ref/attn_mean.h"

#include <algorithm>

#include "base/half.h"

namespace nw::ref {

std::vector<u16> attn_mean(Dtype dtype, const AttnTokens &x) {
    std::vector<u16> out;
    for (u32 b = 0; b < x.batch; ++b)
        for (u32 n = 0; n < x.blocks(); ++n)
            for (u32 h = 0; h < x.heads; ++h)
                for (u32 d = 0; d < x.dim; ++d) {
                    const u32 first = n * attn_block, end = std::min(first + attn_block, x.tokens);
                    f32 sum = 0;
                    for (u32 t = first; t < end; ++t)
                        sum += to_f32(dtype, x.at(b, t, h, d));
                    const f32 mean = sum / static_cast<f32>(end - first);
                    out.push_back(round_to(dtype, mean));
                }
    return out;
}

} // namespace nw::ref
