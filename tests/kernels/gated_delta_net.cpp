// SPDX-License-Identifier: MIT
// gated_delta_net: each token within what its contract states of an f64 step from the kernel's own
// state before it, and of a layer's gates and norms; the same bits whatever the slots, the rows and
// the number of launches.
#include "ref/gated_delta_net.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "check/check.h"
#include "kernels/tensor.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Region;
using check::Tensor;
using check::Test;

namespace {

struct Case {
    u32 b, tokens, h, hk;
    u32 slots = 1, states = 0; // states 0: b
    u64 pad = 0;               // elements between rows, a multiple of 4
    bool interleaved = false, permuted = false, hard = false, in_place = false;
    std::vector<i32> idx = {}, new_idx = {};
};

// Inputs of a case: values without gaps, and how they lie in memory.
struct Inputs {
    Case p;
    u32 d;
    bool vector_gate, layer;
    f32 scale;
    Tensor q, k, v, z, state; // state: rows of h * d * d elements
    std::vector<f32> qs, ks, vs, gs, betas, states;
    std::vector<f32> as, dts, zs, norms; // of a layer; else empty

    u32 gates() const { return vector_gate ? d : 1; } // per head
    u64 of_state() const { return u64{p.h} * d * d; }
    u32 rows() const { return state.n[1]; }
    u32 row_of(const std::vector<i32> &idx, u32 i) const {
        return idx.empty() ? i
                           : static_cast<u32>(std::clamp(idx[i], 0, static_cast<i32>(rows()) - 1));
    }
};

void normalize(std::vector<f32> &x, u32 d) {
    for (u64 row = 0; row < x.size(); row += d) {
        f32 sum = 0;
        for (u32 i = 0; i < d; ++i)
            sum += x[row + i] * x[row + i];
        for (u32 i = 0; i < d; ++i)
            x[row + i] /= std::sqrt(sum);
    }
}

// Gates and values that arithmetic treats apart, a few tokens and heads each; the rest stays as it
// is.
void make_hard(Inputs &in) {
    constexpr f32 inf = std::numeric_limits<f32>::infinity();
    constexpr std::array<f32, 10> gates = {0, -0.0f, -1e-6f, -20, -87.5f, -95, -inf, 8, NAN, 100};
    constexpr std::array<f32, 6> betas = {0, 1, -1, 2, inf, NAN};
    for (u64 i = 0; i < in.gs.size(); ++i)
        in.gs[i] = gates[i % gates.size()];
    for (u64 i = 0; i < in.betas.size(); ++i)
        in.betas[i] = betas[i / gates.size() % betas.size()];
    in.vs[3] = inf, in.vs[5] = NAN, in.vs[in.vs.size() - 2] = -inf;
    in.ks[7] = inf, in.ks[in.ks.size() / 2] = 0;
    in.states[1] = inf, in.states[in.d] = NAN, in.states[in.states.size() - 3] = -inf;
    if (!in.layer)
        return;
    constexpr std::array<f32, 6> zs = {inf, -inf, NAN, -100, 0, -0.0f};
    std::ranges::copy(zs, in.zs.begin() + in.d);
    in.as[0] = 2, in.as[1] = 0;
    // The second token, whose betas are finite, has a k of zeros, and values with large squares.
    std::fill_n(in.ks.begin() + (2 * in.p.hk - 1) * in.d, in.d, 0.0f);
    std::fill_n(in.vs.begin() + (in.p.h + 2) * in.d, in.d, 1e30f);
}

// A layer's values: raw gates, q and k of any length.
void make_layer(Test &t, Inputs &in) {
    in.qs = check::normal_values(t.rng, in.q.elements(), 0.7f);
    in.ks = check::normal_values(t.rng, in.k.elements(), 3);
    in.gs = check::normal_values(t.rng, in.gs.size(), 6);
    in.betas = check::normal_values(t.rng, in.betas.size(), 2);
    in.as = check::normal_values(t.rng, in.p.h);
    for (f32 &a : in.as)
        a = -std::exp(a);
    in.dts = check::normal_values(t.rng, in.p.h);
    in.zs = check::normal_values(t.rng, in.z.elements(), 3);
    in.norms = check::normal_values(t.rng, in.d);
    for (u32 i = 0; i < in.d; ++i) // squares as small as unit_eps
        in.qs[i] *= 2e-4f, in.ks[i] *= 5e-5f;
}

Inputs inputs(Test &t, const Kernel &kernel, const Case &p) {
    const u32 d = kernel.number("d"), states = p.states ? p.states : p.b;
    Inputs in{.p = p,
              .d = d,
              .vector_gate = kernel.number("vector_gate") == 1,
              .layer = kernel.number("layer") == 1,
              .scale = 1 / std::sqrt(static_cast<f32>(d)),
              .q = check::tensor({d, p.hk, p.tokens, p.b}, 4, p.pad, p.permuted),
              .k = check::tensor({d, p.hk, p.tokens, p.b}, 4, 2 * p.pad, p.permuted),
              .v = check::tensor({d, p.h, p.tokens, p.b}, 4, p.pad, p.permuted),
              .z = check::tensor({d, p.h, p.tokens, p.b}, 4, 3 * p.pad, p.permuted),
              .state = check::tensor({p.h * d * d, states, 1, 1}, 4, p.pad)};
    in.qs = check::normal_values(t.rng, in.q.elements());
    in.ks = check::normal_values(t.rng, in.k.elements());
    in.vs = check::normal_values(t.rng, in.v.elements());
    in.states = check::normal_values(t.rng, in.state.elements());
    normalize(in.qs, d);
    normalize(in.ks, d);
    const u64 heads = u64{p.b} * p.tokens * p.h;
    for (u64 i = 0; i < heads * in.gates(); ++i)
        in.gs.push_back(-1e-4f - (t.rng.below(8) ? 0.3f : 20) * t.rng.unit());
    for (u64 i = 0; i < heads; ++i)
        in.betas.push_back(t.rng.unit());
    if (in.layer)
        make_layer(t, in);
    if (p.hard)
        make_hard(in);
    return in;
}

// The tokens [first, first + count) of the inputs, of a case of one sequence.
Inputs part(const Inputs &in, u32 first, u32 count, const std::vector<f32> &states) {
    Inputs out = in;
    out.p.tokens = count;
    out.states = states;
    const auto cut = [&](std::vector<f32> &x, u64 of_token) {
        x = std::vector<f32>(&x[first * of_token], &x[0] + (first + count) * of_token);
    };
    for (Tensor *x : {&out.q, &out.k, &out.v, &out.z})
        *x = check::tensor({x->n[0], x->n[1], count, 1}, 4, 0);
    cut(out.qs, u64{in.d} * in.p.hk);
    cut(out.ks, u64{in.d} * in.p.hk);
    cut(out.vs, u64{in.d} * in.p.h);
    cut(out.gs, u64{in.gates()} * in.p.h);
    cut(out.betas, in.p.h);
    if (in.layer)
        cut(out.zs, u64{in.d} * in.p.h);
    return out;
}

struct Results {
    std::vector<f32> o;      // [b, tokens, h, d]
    std::vector<f32> states; // [slots, rows, h * d * d], rows without gaps
};

constexpr f32 unit_eps = 1e-6f, norm_eps = 1e-5f;
constexpr f32 unwritten = std::bit_cast<f32>(0x5e5e5e5eu);

template <class T> const T *or_null(const Region &x) {
    return x.size() ? static_cast<const T *>(x.data()) : nullptr;
}

Results run(Test &t, const Kernel &kernel, const Inputs &in, u32 slots, bool in_place,
            std::source_location where) {
    const Case &p = in.p;
    const Tensor out = check::tensor({in.d, p.h, p.tokens, p.b}, 4, p.pad),
                 fresh =
                     in_place
                         ? in.state
                         : check::tensor({p.h * in.d * in.d, p.new_idx.empty() ? p.b : in.rows(),
                                          std::min(slots, p.tokens), 1},
                                         4, 2 * p.pad);
    const Region q = t.region<u8>(check::placed(in.q, in.qs)),
                 k = t.region<u8>(check::placed(in.k, in.ks)),
                 v = t.region<u8>(check::placed(in.v, in.vs)), g = t.region<f32>(in.gs),
                 beta = t.region<f32>(in.betas),
                 state = t.region<u8>(check::placed(in.state, in.states)),
                 o = t.region<u8>(std::vector<u8>(out.bytes(), Tensor::poison)),
                 own = t.region<u8>(std::vector<u8>(fresh.bytes(), Tensor::poison)),
                 idx = t.region<i32>(p.idx), new_idx = t.region<i32>(p.new_idx),
                 a = t.region<f32>(in.as), dt = t.region<f32>(in.dts),
                 z = t.region<u8>(in.layer ? check::placed(in.z, in.zs) : std::vector<u8>{}),
                 norm = t.region<f32>(in.norms);
    const Region &result = in_place ? state : own;
    launch(t.modules, kernel,
           ops::GatedDeltaNet{.d = in.d,
                              .vector_gate = in.vector_gate,
                              .interleaved = p.interleaved,
                              .b = p.b,
                              .tokens = p.tokens,
                              .h = p.h,
                              .hk = p.hk,
                              .slots = slots,
                              .states = in.rows(),
                              .scale = in.scale,
                              .q = static_cast<const f32 *>(q.data()),
                              .k = static_cast<const f32 *>(k.data()),
                              .v = static_cast<const f32 *>(v.data()),
                              .g = static_cast<const f32 *>(g.data()),
                              .beta = static_cast<const f32 *>(beta.data()),
                              .state = static_cast<const f32 *>(state.data()),
                              .new_state = static_cast<f32 *>(result.data()),
                              .o = static_cast<f32 *>(o.data()),
                              .idx = or_null<i32>(idx),
                              .new_idx = or_null<i32>(new_idx),
                              .q_b = in.q.stride[3],
                              .q_s = in.q.stride[2],
                              .q_h = in.q.stride[1],
                              .k_b = in.k.stride[3],
                              .k_s = in.k.stride[2],
                              .k_h = in.k.stride[1],
                              .v_b = in.v.stride[3],
                              .v_s = in.v.stride[2],
                              .v_h = in.v.stride[1],
                              .o_b = out.stride[3],
                              .o_s = out.stride[2],
                              .o_h = out.stride[1],
                              .state_stride = in.state.stride[1],
                              .new_stride = fresh.stride[1],
                              .slot_stride = fresh.stride[2],
                              .a = or_null<f32>(a),
                              .dt = or_null<f32>(dt),
                              .z = or_null<f32>(z),
                              .norm = or_null<f32>(norm),
                              .z_b = in.z.stride[3],
                              .z_s = in.z.stride[2],
                              .z_h = in.z.stride[1],
                              .unit_eps = unit_eps,
                              .norm_eps = norm_eps});
    t.modules.device().synchronize();
    ++t.launches;
    for (const auto &[name, region] : {std::pair{"q", &q},
                                       {"k", &k},
                                       {"v", &v},
                                       {"g", &g},
                                       {"beta", &beta},
                                       {"idx", &idx},
                                       {"new_idx", &new_idx},
                                       {"a", &a},
                                       {"dt", &dt},
                                       {"z", &z},
                                       {"norm", &norm}})
        t.unchanged(name, *region, where);
    if (!in_place)
        t.unchanged("state", state, where);
    return {check::taken<f32>(t, "o", out, o, where),
            check::taken<f32>(t, "new_state", fresh, result, where)};
}

// Errors that the contract allows, of a step from exact inputs.
struct Errors {
    std::vector<f64> state, o;
    // Rows in which f32's rounding decides between infinities and NaN: a term that is finite in f64
    // may not be in f32, or one that infinity multiplies may be 0 there.
    std::vector<bool> open;
};

bool overflows(f64 x, f64 error) {
    return std::isfinite(x) && std::fabs(x) + error > std::numeric_limits<f32>::max();
}

bool vanishes(f64 x, f64 error, f64 factor) { return std::isinf(factor) && std::fabs(x) <= error; }

// Relative errors of what a layer makes for the rule.
struct LayerErrors {
    f64 decay = 0, beta = 0, unit = 0;
};

LayerErrors layer_errors(const Inputs &in, const ref::GatedDeltaToken &raw,
                         const ref::GatedDeltaLayer &layer) {
    if (!in.layer)
        return {};
    const auto size = [](f64 x) { return std::fmin(std::fabs(x), 200); };
    return {.decay = 0x1p-23 * std::fabs(layer.a) * (4 * size(raw.g[0] + layer.dt) + 6),
            .beta = 0x1p-23 * (size(raw.beta) + 3),
            .unit = 0x1p-24 * (in.d / 32.0 + 6)};
}

Errors errors(const Inputs &in, std::span<const f64> before, const ref::GatedDeltaToken &token,
              const ref::GatedDeltaStep &step, const LayerErrors &own) {
    constexpr f64 ulp = 0x1p-24, tiny = 0x1p-148;
    const u64 d = in.d;
    const f64 terms = d / std::min(8.0, d / 4.0) / 2 + 5;
    Errors out{std::vector<f64>(d * d), std::vector<f64>(d), std::vector<bool>(d)};
    for (u64 r = 0; r < d; ++r) {
        f64 of_dot = 0, of_o = 0, dot = 0;
        f64 dot_terms = 0, o_terms = 0; // finite ones, without their signs
        bool open = false;
        for (u64 c = 0; c < d; ++c) {
            const f64 g = std::fmin(std::fabs(token.g[token.g.size() == 1 ? 0 : c]), 200),
                      was = std::fabs(before[r * d + c]), now = std::fabs(step.decayed[r * d + c]),
                      k = std::fabs(token.k[c]);
            out.state[r * d + c] =
                now * (2 * ulp * (g + 2) + ulp + own.decay) + was * 0x1p-126 + tiny;
            of_dot += (out.state[r * d + c] + (terms * ulp + own.unit) * now) * k + tiny;
            open |= vanishes(std::exp(token.g[token.g.size() == 1 ? 0 : c]), 0x1p-126, was);
            open |= overflows(now, out.state[r * d + c]) || vanishes(now, out.state[r * d + c], k);
            dot_terms += std::isfinite(now * k) ? now * k : 0;
            dot += step.decayed[r * d + c] * token.k[c];
        }
        const f64 u = std::fabs(step.u[r]),
                  of_u = std::fabs(token.beta) * of_dot + (3 * ulp + own.beta) * u + tiny;
        open |= overflows(dot_terms, 0) || overflows(u, of_u) ||
                vanishes(token.v[r] - dot, of_dot, token.beta);
        for (u64 c = 0; c < d; ++c) {
            f64 &error = out.state[r * d + c];
            const f64 now = std::fabs(step.state[r * d + c]);
            error =
                1.01 * (error + std::fabs(token.k[c]) * (of_u + own.unit * u) + ulp * now + tiny);
            of_o += (error + (terms * ulp + own.unit) * now) * std::fabs(token.q[c]) + tiny;
            open |= overflows(now, error) || vanishes(u, of_u, token.k[c]);
            o_terms += std::isfinite(now * token.q[c]) ? std::fabs(now * token.q[c]) : 0;
        }
        out.open[r] = open || overflows(o_terms, 0);
        out.o[r] = 1.01 * (std::fabs(token.scale) * of_o + 2 * ulp * std::fabs(step.o[r]) + tiny);
    }
    return out;
}

// Errors of o behind its norm, from those before it.
std::vector<f64> gated_errors(const ref::GatedDeltaStep &step, std::span<const f64> before,
                              const ref::GatedDeltaLayer &layer, std::span<const f64> gated) {
    const f64 d = static_cast<f64>(step.o.size());
    f64 sum = 0, error = 0;
    for (u64 r = 0; r < step.o.size(); ++r) {
        sum += step.o[r] * step.o[r];
        error += (std::fabs(step.o[r]) + before[r]) * before[r];
    }
    const f64 with_eps = sum + d * layer.norm_eps,
              of_root = error / with_eps + 0x1p-24 * (d / 32 + 5), root = std::sqrt(d / with_eps);
    std::vector<f64> out;
    for (u64 r = 0; r < step.o.size(); ++r) {
        const f64 z = std::fabs(layer.z[r]), norm = std::fabs(layer.norm[r]),
                  silu = std::fabs(layer.z[r] / (1 + std::exp(-layer.z[r]))),
                  lost = 0x1p-126 * z * norm * root * (std::fabs(step.o[r]) + before[r]);
        out.push_back(1.02 * (before[r] * root * norm * silu + lost + 0x1p-148 +
                              std::fabs(gated[r]) * (of_root + 0x1p-23 * (z + 5))));
    }
    return out;
}

bool right(f64 got, f64 want, f64 most, bool open) {
    if (open && !std::isfinite(got))
        return true;
    if (std::isnan(want))
        return std::isnan(got);
    if (std::isinf(want))
        return got == want;
    return std::fabs(got - want) <= most;
}

std::vector<f64> piece(const std::vector<f32> &x, u64 first, u64 count) {
    return {x.begin() + static_cast<i64>(first), x.begin() + static_cast<i64>(first + count)};
}

// Token `at` of all sequences', of a value head and its key head.
ref::GatedDeltaToken token_of(const Inputs &in, u64 at, u64 head, u64 key) {
    const u64 d = in.d, of_head = at * in.p.h + head, of_key = at * in.p.hk + key;
    return {.q = piece(in.qs, of_key * d, d),
            .k = piece(in.ks, of_key * d, d),
            .v = piece(in.vs, of_head * d, d),
            .g = piece(in.gs, of_head * in.gates(), in.gates()),
            .beta = in.betas[of_head],
            .scale = in.scale};
}

ref::GatedDeltaLayer layer_of(const Inputs &in, u64 at, u64 head) {
    if (!in.layer)
        return {};
    return {.a = in.as[head],
            .dt = in.dts[head],
            .unit_eps = unit_eps,
            .norm_eps = norm_eps,
            .z = piece(in.zs, (at * in.p.h + head) * in.d, in.d),
            .norm = piece(in.norms, 0, in.d)};
}

// Every token of a run that kept all states, each from the state before it.
void check_steps(Test &t, const Inputs &in, const Results &got, std::source_location where) {
    const Case &p = in.p;
    const u64 d = in.d, rows = p.new_idx.empty() ? p.b : in.rows();
    for (u32 i = 0; i < p.b; ++i)
        for (u32 j = 0; j < p.h; ++j) {
            const f32 *first = &in.states[in.row_of(p.idx, i) * in.of_state() + j * d * d];
            std::vector<f64> before(first, first + d * d);
            const u64 key = ref::gated_delta_key_head(j, p.h, p.hk, p.interleaved);
            for (u32 token = 0; token < p.tokens; ++token) {
                const u64 at = u64{i} * p.tokens + token, slot = p.tokens - 1 - token;
                const ref::GatedDeltaToken raw = token_of(in, at, j, key);
                const ref::GatedDeltaLayer layer = layer_of(in, at, j);
                const ref::GatedDeltaToken x =
                    in.layer ? ref::gated_delta_of_layer(raw, layer) : raw;
                const ref::GatedDeltaStep want = ref::gated_delta_step(before, x);
                const Errors most = errors(in, before, x, want, layer_errors(in, raw, layer));
                const f32 *state =
                    &got.states[(slot * rows + in.row_of(p.new_idx, i)) * in.of_state() +
                                j * d * d];
                for (u64 e = 0; e < d * d; ++e)
                    if (!right(state[e], want.state[e], most.state[e], most.open[e / d]))
                        return t.fail(fmt::format("state of sequence {}, head {} after token {}, "
                                                  "[{},{}], is {}, not {} within {}",
                                                  i, j, token, e / d, e % d, state[e],
                                                  want.state[e], most.state[e]),
                                      where);
                const std::vector<f64> wanted = in.layer ? ref::gated_delta_gated(want.o, layer)
                                                         : want.o,
                                       mosts = in.layer ? gated_errors(want, most.o, layer, wanted)
                                                        : most.o;
                // The norm takes a row's infinity or NaN to all of the head's.
                const bool all_open =
                    in.layer && std::ranges::find(most.open, true) != most.open.end();
                for (u64 r = 0; r < d && !all_open; ++r)
                    if (const f32 o = got.o[(at * p.h + j) * d + r];
                        !right(o, wanted[r], mosts[r], most.open[r]))
                        return t.fail(fmt::format("o[{},{},{},{}] is {}, not {} within {}", i,
                                                  token, j, r, o, wanted[r], mosts[r]),
                                      where);
                before.assign(state, state + d * d);
            }
        }
}

bool same_bits(const f32 *a, const f32 *b, u64 count) {
    return std::memcmp(a, b, count * sizeof(f32)) == 0;
}

// `got` of fewer slots or in place, against the run that kept all.
void check_kept(Test &t, const Inputs &in, const Results &got, const Results &all, u32 slots,
                std::source_location where) {
    if (!same_bits(got.o.data(), all.o.data(), all.o.size()))
        t.fail("o depends on the slots", where);
    const u64 rows = in.p.new_idx.empty() ? in.p.b : in.rows();
    if (!same_bits(got.states.data(), all.states.data(),
                   std::min(slots, in.p.tokens) * rows * in.of_state()))
        t.fail("new_state depends on the slots", where);
}

void check_case(Test &t, const Kernel &kernel, const Case &p, const char *what,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("b={} tokens={} h={} hk={} slots={} {}", p.b, p.tokens, p.h, p.hk, p.slots,
                        what));
    const Inputs in = inputs(t, kernel, p);
    const Results all = run(t, kernel, in, std::max(p.slots, p.tokens), false, where);
    check_steps(t, in, all, where);
    for (u32 row = 0; !p.new_idx.empty() && row < in.rows(); ++row) {
        bool named = false;
        for (u32 i = 0; i < p.b; ++i)
            named |= in.row_of(p.new_idx, i) == row;
        if (!named && !same_bits(&all.states[row * in.of_state()], &unwritten, 1))
            t.fail(fmt::format("row {} of new_state, which no index names, is written", row),
                   where);
    }
    if (p.slots < p.tokens || p.in_place)
        check_kept(t, in, run(t, kernel, in, p.slots, p.in_place, where), all, p.slots, where);
}

// Tokens in two launches, the second from the first one's state, in place.
void check_carried(Test &t, const Kernel &kernel, u32 tokens, u32 first,
                   std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("{} tokens, then {}", first, tokens - first));
    const Inputs in = inputs(t, kernel, {.b = 1, .tokens = tokens, .h = 2, .hk = 1});
    const Results all = run(t, kernel, in, 1, false, where),
                  one = run(t, kernel, part(in, 0, first, in.states), 1, true, where),
                  two = run(t, kernel, part(in, first, tokens - first, one.states), 1, true, where);
    const u64 middle = one.o.size();
    if (!same_bits(two.states.data(), all.states.data(), all.states.size()) ||
        !same_bits(one.o.data(), all.o.data(), middle) ||
        !same_bits(two.o.data(), &all.o[middle], two.o.size()))
        t.fail("results depend on where a launch ends", where);
}

} // namespace

CHECK_FAMILY(gated_delta_net) {
    if (t.entry)
        return check_case(t, kernel, {.b = 1, .tokens = 2, .h = 5, .hk = 5, .slots = 2}, "entry");
    check_case(t, kernel, {.b = 2, .tokens = 3, .h = 6, .hk = 3, .pad = 4, .permuted = true},
               "permuted");
    check_case(t, kernel,
               {.b = 2,
                .tokens = 2,
                .h = 6,
                .hk = 2,
                .slots = 3,
                .states = 4,
                .interleaved = true,
                .idx = {3, -7},
                .new_idx = {100, 1}},
               "indices");
    check_case(t, kernel, {.b = 1, .tokens = 4, .h = 3, .hk = 3, .slots = 2}, "two slots");
    check_case(t, kernel, {.b = 3, .tokens = 1, .h = 1, .hk = 1, .pad = 8, .in_place = true},
               "in place");
    check_case(t, kernel, {.b = 2, .tokens = 3, .h = 10, .hk = 5, .hard = true}, "hard values");
    if (t.checkers)
        return;
    check_carried(t, kernel, 7, 4);
    check_case(t, kernel, {.b = 1, .tokens = 33, .h = 1, .hk = 1, .slots = 4}, "many tokens");
    check_case(t, kernel, {.b = 1, .tokens = 1, .h = 48, .hk = 16}, "as Qwen3.5's");
}
