// SPDX-License-Identifier: MIT
#include "ref/gated_delta_net.h"

#include <cmath>
#include <limits>

#include "ref/need_size.h"

namespace nw::ref {

namespace {

// A value that f32 can't hold is infinite.
f64 as_held(f64 x) {
    return x > f64{std::numeric_limits<f32>::max()} ? std::numeric_limits<f64>::infinity() : x;
}

f64 dot(const f64 *row, std::span<const f64> x) {
    f64 sum = 0;
    for (u64 c = 0; c < x.size(); ++c)
        sum += row[c] * x[c];
    return sum;
}

f64 squares(std::span<const f64> x) {
    f64 sum = 0;
    for (const f64 value : x)
        sum += value * value;
    return as_held(sum);
}

std::vector<f64> unit(std::span<const f64> x, f64 eps) {
    std::vector<f64> out(x.begin(), x.end());
    for (f64 &value : out)
        value *= 1 / std::sqrt(squares(x) + eps);
    return out;
}

f64 softplus(f64 x) { return x > 20 ? x : std::log(1 + std::exp(x)); }

} // namespace

GatedDeltaToken gated_delta_of_layer(const GatedDeltaToken &t, const GatedDeltaLayer &layer) {
    need_size("g", t.g.size(), 1);
    return {.q = unit(t.q, layer.unit_eps),
            .k = unit(t.k, layer.unit_eps),
            .v = t.v,
            .g = {layer.a * softplus(t.g[0] + layer.dt)},
            .beta = 1 / (1 + std::exp(-t.beta)),
            .scale = t.scale};
}

std::vector<f64> gated_delta_gated(std::span<const f64> o, const GatedDeltaLayer &layer) {
    need_size("z", layer.z.size(), o.size());
    need_size("norm", layer.norm.size(), o.size());
    const f64 root = 1 / std::sqrt(squares(o) / static_cast<f64>(o.size()) + layer.norm_eps);
    std::vector<f64> out;
    for (u64 r = 0; r < o.size(); ++r)
        out.push_back(o[r] * root * layer.norm[r] * layer.z[r] / (1 + std::exp(-layer.z[r])));
    return out;
}

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
        out.decayed[i] *= as_held(std::exp(t.g[t.g.size() == 1 ? 0 : i % d]));
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
