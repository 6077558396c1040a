// SPDX-License-Identifier: MIT
#include "ref/ssm_scan.h"

#include <cmath>

namespace nw::ref {

f64 softplus(f64 x) { return x > 20 ? x : std::log1p(std::exp(x)); }

SsmStep ssm_scan_step(std::vector<f64> &state, const SsmToken &p, std::span<const f64> of_state) {
    const f64 t = softplus(p.dt);
    SsmStep out;
    out.of_state.resize(state.size());
    for (u64 c = 0; c < state.size(); ++c) {
        const f64 decay = std::exp(t * p.a[p.a.size() == 1 ? 0 : c]), in = p.k[c] * t * p.x;
        state[c] = decay * state[c] + in;
        out.of_state[c] = decay * of_state[c] + std::fabs(in);
        out.o += p.q[c] * state[c];
        out.of_o += std::fabs(p.q[c]) * out.of_state[c];
    }
    return out;
}

} // namespace nw::ref
