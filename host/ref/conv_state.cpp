// SPDX-License-Identifier: MIT
#include "ref/conv_state.h"

#include <cmath>

#include "ref/need_size.h"

namespace nw::ref {

std::vector<f32> conv_state_inputs(const ConvState &p, std::span<const f32> x,
                                   std::span<const f32> states, std::span<const u32> rows) {
    need_size("x", x.size(), u64{p.b} * p.tokens * p.n);
    need_size("rows", rows.size(), p.b);
    const u64 before = p.taps - 1;
    std::vector<f32> out;
    for (u64 i = 0; i < p.b; ++i)
        for (u64 c = 0; c < p.n; ++c) {
            for (u64 j = 0; j < before; ++j)
                out.push_back(states[(rows[i] * u64{p.n} + c) * before + j]);
            for (u64 t = 0; t < p.tokens; ++t)
                out.push_back(x[(i * p.tokens + t) * p.n + c]);
        }
    return out;
}

std::vector<f32> conv_state_sums(const ConvState &p, std::span<const f32> inputs,
                                 std::span<const f32> w, std::span<const f32> bias) {
    need_size("inputs", inputs.size(), u64{p.b} * p.n * p.inputs());
    need_size("w", w.size(), u64{p.n} * p.taps);
    if (!bias.empty())
        need_size("bias", bias.size(), p.n);
    std::vector<f32> z;
    for (u64 i = 0; i < p.b; ++i)
        for (u64 t = 0; t < p.tokens; ++t)
            for (u64 c = 0; c < p.n; ++c) {
                const f32 *of_token = &inputs[(i * p.n + c) * p.inputs() + t];
                f32 sum = of_token[0] * w[c * p.taps];
                for (u64 j = 1; j < p.taps; ++j)
                    sum = std::fma(of_token[j], w[c * p.taps + j], sum);
                z.push_back(sum + (bias.empty() ? 0 : bias[c]));
            }
    return z;
}

std::vector<f32> conv_state_kept(const ConvState &p, std::span<const f32> inputs) {
    need_size("inputs", inputs.size(), u64{p.b} * p.n * p.inputs());
    std::vector<f32> out;
    for (u64 row = 0; row < u64{p.b} * p.n; ++row)
        for (u64 j = p.tokens; j < p.inputs(); ++j)
            out.push_back(inputs[row * p.inputs() + j]);
    return out;
}

} // namespace nw::ref
