// SPDX-License-Identifier: MIT
// A layer of linear attention in two launches: nw_conv_state beside nw_ssm_conv, and
// nw_gated_delta_net with a layer's gates and norms beside its reference; refusals.
#include <algorithm>
#include <cmath>

#include "api/gguf_product.h"
#include "ref/gated_delta_net.h"

using namespace api_test;

namespace {

std::vector<f32> read(const Memory &memory) {
    std::vector<f32> out(memory.size / 4);
    HIP_OK(hipMemcpy(out.data(), memory.data, memory.size, hipMemcpyDeviceToHost));
    return out;
}

template <class T = float> const T *on(const Memory &memory) {
    return static_cast<const T *>(memory.data);
}

// A cache of three rows, of which sequence i of two has row `idx[i]`.
struct Conv {
    static constexpr u32 taps = 4, b = 2, n = 200, tokens = 3, states = 3;
    static constexpr std::array<i32, b> idx = {2, 0};
    std::vector<f32> xs = normal(b * tokens * n, 1, Rng(1)),
                     cache = normal(states * n * (taps - 1), 1, Rng(2));
    Memory x{bytes_of(xs)}, w{bytes_of(normal(n * taps, 1, Rng(3)))},
        bias{bytes_of(normal(n, 1, Rng(4)))}, state{bytes_of(cache)},
        index{bytes_of(std::vector<i32>(idx.begin(), idx.end()))},
        new_state{u64{4} * b * n * (taps - 1)}, y{u64{4} * b * tokens * n};

    nw_conv_state_op arguments() const {
        nw_conv_state_op p = NW_CONV_STATE_OP_INIT;
        p.taps = taps, p.silu = 1, p.b = b, p.n = n, p.tokens = tokens, p.states = states;
        p.x = on(x), p.w = on(w), p.bias = on(bias), p.state = on(state), p.idx = on<i32>(index);
        p.new_state = static_cast<float *>(new_state.data), p.y = static_cast<float *>(y.data);
        p.x_stride = p.y_stride = u64{4} * n, p.x_b = p.y_b = tokens * p.x_stride;
        p.state_stride = p.new_stride = u64{4} * n * (taps - 1);
        return p;
    }
    // [b, n, taps - 1 + tokens]
    std::vector<f32> inputs() const {
        std::vector<f32> out;
        for (u64 i = 0; i < b; ++i)
            for (u64 c = 0; c < n; ++c) {
                const auto row = cache.begin() + ((i ? idx[1] : idx[0]) * i64{n} + c) * (taps - 1);
                out.insert(out.end(), row, row + taps - 1);
                for (u64 t = 0; t < tokens; ++t)
                    out.push_back(xs[(i * tokens + t) * n + c]);
            }
        return out;
    }
    // By nw_ssm_conv.
    std::vector<f32> want(nw_context *context) const {
        const Memory all(bytes_of(inputs())), out(y.size);
        nw_ssm_conv_op p = NW_SSM_CONV_OP_INIT;
        p.taps = taps, p.silu = 1, p.b = b, p.n = n, p.tokens = tokens;
        p.x = on(all), p.w = on(w), p.bias = on(bias), p.y = static_cast<float *>(out.data);
        p.x_stride = u64{4} * (tokens + taps - 1), p.x_b = n * p.x_stride;
        p.y_stride = u64{4} * n, p.y_b = tokens * p.y_stride;
        NW_DONE(nw_ssm_conv(context, &p, nullptr));
        HIP_OK(hipDeviceSynchronize());
        return read(out);
    }
};

// One sequence, in place.
struct Delta {
    static constexpr u32 d = 64, h = 4, hk = 2, tokens = 2;
    std::vector<f32> qs = normal(tokens * hk * d, 1, Rng(1)),
                     ks = normal(tokens * hk * d, 2, Rng(2)),
                     vs = normal(tokens * h * d, 1, Rng(3)), gs = normal(tokens * h, 2, Rng(4)),
                     betas = normal(tokens * h, 1, Rng(5)),
                     before = normal(h * d * d, 0.1f, Rng(6)), as = normal(h, 1, Rng(7)),
                     dts = normal(h, 1, Rng(8)), zs = normal(tokens * h * d, 1, Rng(9)),
                     norms = normal(d, 1, Rng(10));
    Memory q{bytes_of(qs)}, k{bytes_of(ks)}, v{bytes_of(vs)}, g{bytes_of(gs)},
        beta{bytes_of(betas)}, state{bytes_of(before)}, a{bytes_of(as)}, dt{bytes_of(dts)},
        z{bytes_of(zs)}, norm{bytes_of(norms)}, o{u64{4} * tokens * h * d};

    nw_gated_delta_op arguments() const {
        nw_gated_delta_op p = NW_GATED_DELTA_OP_INIT;
        p.d = d, p.tokens = tokens, p.h = h, p.hk = hk, p.scale = 0.125f;
        p.q = on(q), p.k = on(k), p.v = on(v), p.g = on(g), p.beta = on(beta);
        p.state = on(state), p.new_state = static_cast<float *>(state.data);
        p.o = static_cast<float *>(o.data);
        p.a = on(a), p.dt = on(dt), p.z = on(z), p.norm = on(norm);
        p.q_h = p.k_h = p.v_h = p.o_h = p.z_h = u64{4} * d;
        p.q_s = p.k_s = hk * p.q_h, p.v_s = p.o_s = p.z_s = h * p.v_h;
        return p;
    }
    // The largest difference of o from the reference.
    f64 error() const {
        const std::vector<f32> got = read(o);
        const auto part = [](const std::vector<f32> &x, u64 first, u64 count) {
            return std::vector<f64>(&x[first], &x[0] + first + count);
        };
        f64 out = 0;
        for (u64 head = 0; head < h; ++head) {
            std::vector<f64> s = part(before, head * d * d, d * d);
            for (u64 t = 0; t < tokens; ++t) {
                const u64 of = t * h + head, key = t * hk + head % hk;
                const nw::ref::GatedDeltaLayer layer{.a = as[head],
                                                     .dt = dts[head],
                                                     .unit_eps = 1e-6f,
                                                     .norm_eps = 1e-6f,
                                                     .z = part(zs, of * d, d),
                                                     .norm = part(norms, 0, d)};
                const nw::ref::GatedDeltaStep step = nw::ref::gated_delta_step(
                    s, nw::ref::gated_delta_of_layer({.q = part(qs, key * d, d),
                                                      .k = part(ks, key * d, d),
                                                      .v = part(vs, of * d, d),
                                                      .g = part(gs, of, 1),
                                                      .beta = betas[of],
                                                      .scale = 0.125},
                                                     layer));
                const std::vector<f64> want = nw::ref::gated_delta_gated(step.o, layer);
                for (u64 r = 0; r < d; ++r)
                    out = std::fmax(out, std::fabs(got[of * d + r] - want[r]));
                s = step.state;
            }
        }
        return out;
    }
};

} // namespace

TEST_CASE("conv_state: nw_ssm_conv's bits; rows of the cache apart and in place") {
    const Context context;
    const Conv conv;
    nw_conv_state_op p = conv.arguments();
    NW_DONE(nw_conv_state_prepare(context, &p));
    NW_DONE(nw_conv_state(context, &p, nullptr));
    HIP_OK(hipDeviceSynchronize());
    CHECK(read(conv.y) == conv.want(context));
    const std::vector<f32> kept = read(conv.new_state);
    CHECK(read(conv.state) == conv.cache);

    // The second sequence alone, in its own row.
    p.b = 1, p.x += conv.tokens * conv.n;
    const Memory row(bytes_of(std::vector<i32>{0}));
    p.idx = on<i32>(row), p.new_state = static_cast<float *>(conv.state.data);
    NW_DONE(nw_conv_state(context, &p, nullptr));
    HIP_OK(hipDeviceSynchronize());
    const std::vector<f32> after = read(conv.state);
    const u64 of_row = conv.n * (conv.taps - 1);
    CHECK(std::equal(kept.begin() + of_row, kept.end(), after.begin()));
    CHECK(std::equal(after.begin() + of_row, after.end(), conv.cache.begin() + of_row));
}

TEST_CASE("gated_delta_net: a layer's gates and norms") {
    const Context context;
    const Delta delta;
    const nw_gated_delta_op p = delta.arguments();
    CHECK_EQ(p.unit_eps, 1e-6f);
    NW_DONE(nw_gated_delta_net_prepare(context, &p));
    NW_DONE(nw_gated_delta_net(context, &p, nullptr));
    HIP_OK(hipDeviceSynchronize());
    CHECK(delta.error() < 1e-4);
}

TEST_CASE("conv_state, a layer's gated_delta_net: what is refused, with its value and the rule") {
    const Context context;
    const auto refused = [&](auto call, auto p, auto breaks, const char *says) {
        breaks(p);
        CHECK_EQ(call(context, &p, nullptr), NW_INVALID_ARGUMENT);
        CAPTURE(std::string(nw_last_error()));
        CHECK(said(says));
    };
    const Conv conv;
    const auto of_conv = [&](auto breaks, const char *says) {
        refused(nw_conv_state, conv.arguments(), breaks, says);
    };
    of_conv([](nw_conv_state_op &p) { p.taps = 9; }, "taps = 9");
    of_conv([](nw_conv_state_op &p) { p.idx = nullptr, p.states = 1; }, "states = 1, b = 2");
    of_conv([](nw_conv_state_op &p) { p.new_state = const_cast<float *>(p.state) + 1; },
            "whole rows");
    of_conv(
        [](nw_conv_state_op &p) {
            p.idx = nullptr, p.new_state = const_cast<float *>(p.state) + p.state_stride / 4;
        },
        "behind the 2 rows");
    of_conv([](nw_conv_state_op &p) { p.y = const_cast<float *>(p.x); }, "overlap");
    const Delta delta;
    const auto of_delta = [&](auto breaks, const char *says) {
        refused(nw_gated_delta_net, delta.arguments(), breaks, says);
    };
    of_delta([](nw_gated_delta_op &p) { p.z = nullptr; }, "z is null");
    of_delta([](nw_gated_delta_op &p) { p.d = 32; }, "heads are of 64 or 128");
    of_delta([](nw_gated_delta_op &p) { p.vector_gate = 1; }, "a gate each");
    of_delta([](nw_gated_delta_op &p) { p.norm_eps = -1; }, "norm_eps");
    of_delta([](nw_gated_delta_op &p) { p.z_h = 12; }, "z_h = 12");
    of_delta([](nw_gated_delta_op &p) { p.o = const_cast<float *>(p.z); }, "overlap");
}
