// SPDX-License-Identifier: MIT
#include "ref/wkv.h"

#include <cmath>

namespace nw::ref {

namespace {

WkvStep rwkv7_step(std::vector<f64> &state, const WkvToken &x, std::span<const f64> sizes) {
    const u64 d = x.q.size();
    WkvStep out{std::vector<f64>(d), std::vector<f64>(d), std::vector<f64>(d * d)};
    for (u64 i = 0; i < d; ++i) {
        f64 gone = 0, of_gone = 0;
        for (u64 l = 0; l < d; ++l) {
            gone += x.remove[l] * state[i * d + l];
            of_gone += std::fabs(x.remove[l]) * sizes[i * d + l];
        }
        for (u64 j = 0; j < d; ++j) {
            const u64 at = i * d + j;
            state[at] = x.g[j] * state[at] + f64{x.v[i]} * x.k[j] + gone * x.replace[j];
            out.of_state[at] = std::fabs(x.g[j]) * sizes[at] + std::fabs(f64{x.v[i]} * x.k[j]) +
                               of_gone * std::fabs(x.replace[j]);
            out.o[i] += x.q[j] * state[at];
            out.of_o[i] += std::fabs(x.q[j]) * out.of_state[at];
        }
    }
    return out;
}

} // namespace

WkvStep wkv_step(std::string_view function, std::vector<f64> &state, const WkvToken &x,
                 std::span<const f64> sizes) {
    if (function == "rwkv7")
        return rwkv7_step(state, x, sizes);
    const u64 d = x.q.size();
    const bool sixth = function == "rwkv6";
    WkvStep out{std::vector<f64>(d), std::vector<f64>(d), std::vector<f64>(d * d)};
    for (u64 i = 0; i < d; ++i)
        for (u64 j = 0; j < d; ++j) {
            const u64 at = i * d + j;
            const f64 kv = f64{x.k[i]} * x.v[j], before = state[at];
            state[at] = x.g[i] * before + kv;
            out.of_state[at] = std::fabs(x.g[i]) * sizes[at] + std::fabs(kv);
            const f64 read = sixth ? x.bonus[i] * kv + before : state[at];
            const f64 of_read = sixth ? std::fabs(x.bonus[i] * kv) + sizes[at] : out.of_state[at];
            out.o[j] += x.scale * x.q[i] * read;
            out.of_o[j] += std::fabs(x.scale * x.q[i]) * of_read;
        }
    return out;
}

} // namespace nw::ref
