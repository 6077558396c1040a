// SPDX-License-Identifier: MIT
#include "ref/gated_delta_net.h"

#include <cmath>
#include <limits>

#include "ref/need_size.h"

namespace nw::ref {

namespace {

f64 factor(f32 g) {
    const f64 e = std::exp(f64{g});
    return e > f64{std::numeric_limits<f32>::max()} ? std::numeric_limits<f64>::infinity() : e;
}

f64 dot(const f64 *row, std::span<const f32> x) {
    f64 sum = 0;
    for (u64 c = 0; c < x.size(); ++c)
        sum += row[c] * x[c];
    return sum;
}

} // namespace

u32 gated_delta_key_head(u32 head, u32 h, u32 hk, bool interleaved) {
    return interleaved ? head / (h / hk) : head % hk;
}

GatedDeltaStep gated_delta_step(std::span<const f64> state, const GatedDeltaToken &t) {
    const u64 d = t.v.size();
    need_size("q", t.q.size(), d);
    need_size("k", t.k.size(), d);
    need_size("state", state.size(), d * d);
    if (t.g.size() != 1)
        need_size("g", t.g.size(), d);
    GatedDeltaStep out{{state.begin(), state.end()}, {}, {}, {}};
    for (u64 i = 0; i < d * d; ++i)
        out.decayed[i] *= factor(t.g[t.g.size() == 1 ? 0 : i % d]);
    out.state = out.decayed;
    for (u64 r = 0; r < d; ++r) {
        out.u.push_back(t.beta * (t.v[r] - dot(&out.decayed[r * d], t.k)));
        for (u64 c = 0; c < d; ++c)
            out.state[r * d + c] += out.u[r] * t.k[c];
        out.o.push_back(t.scale * dot(&out.state[r * d], t.q));
    }
    return out;
}

} // namespace nw::ref
