// SPDX-License-Identifier: MIT
// gated_delta_net: each token within what its contract states of an f64 step from the kernel's own
// state before it; the same bits whatever the slots, the rows and the number of launches.
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
    bool vector_gate;
    f32 scale;
    Tensor q, k, v, state; // state: rows of h * d * d elements
    std::vector<f32> qs, ks, vs, gs, betas, states;

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
}

Inputs inputs(Test &t, const Kernel &kernel, const Case &p) {
    const u32 d = kernel.number("d"), states = p.states ? p.states : p.b;
    Inputs in{.p = p,
              .d = d,
              .vector_gate = kernel.number("vector_gate") == 1,
              .scale = 1 / std::sqrt(static_cast<f32>(d)),
              .q = check::tensor({d, p.hk, p.tokens, p.b}, 4, p.pad, p.permuted),
              .k = check::tensor({d, p.hk, p.tokens, p.b}, 4, 2 * p.pad, p.permuted),
              .v = check::tensor({d, p.h, p.tokens, p.b}, 4, p.pad, p.permuted),
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
    for (Tensor *x : {&out.q, &out.k, &out.v})
        *x = check::tensor({x->n[0], x->n[1], count, 1}, 4, 0);
    cut(out.qs, u64{in.d} * in.p.hk);
    cut(out.ks, u64{in.d} * in.p.hk);
    cut(out.vs, u64{in.d} * in.p.h);
    cut(out.gs, u64{in.gates()} * in.p.h);
    cut(out.betas, in.p.h);
    return out;
}

struct Results {
    std::vector<f32> o;      // [b, tokens, h, d]
    std::vector<f32> states; // [slots, rows, h * d * d], rows without gaps
};

constexpr f32 unwritten = std::bit_cast<f32>(0x5e5e5e5eu);

const i32 *indices(const Region &idx) {
    return idx.size() ? static_cast<const i32 *>(idx.data()) : nullptr;
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
                 idx = t.region<i32>(p.idx), new_idx = t.region<i32>(p.new_idx);
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
                              .idx = indices(idx),
                              .new_idx = indices(new_idx),
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
                              .slot_stride = fresh.stride[2]});
    t.modules.device().synchronize();
    ++t.launches;
    for (const auto &[name, region] : {std::pair{"q", &q},
                                       {"k", &k},
                                       {"v", &v},
                                       {"g", &g},
                                       {"beta", &beta},
                                       {"idx", &idx},
                                       {"new_idx", &new_idx}})
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

Errors errors(const Inputs &in, std::span<const f64> before, const ref::GatedDeltaToken &token,
              const ref::GatedDeltaStep &step) {
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
            out.state[r * d + c] = now * (2 * ulp * (g + 2) + ulp) + was * 0x1p-126 + tiny;
            of_dot += (out.state[r * d + c] + terms * ulp * now) * k + tiny;
            open |= overflows(now, out.state[r * d + c]) || vanishes(now, out.state[r * d + c], k);
            dot_terms += std::isfinite(now * k) ? now * k : 0;
            dot += step.decayed[r * d + c] * token.k[c];
        }
        const f64 u = std::fabs(step.u[r]),
                  of_u = std::fabs(token.beta) * of_dot + 3 * ulp * u + tiny;
        open |= overflows(dot_terms, 0) || overflows(u, of_u) ||
                vanishes(token.v[r] - dot, of_dot, token.beta);
        for (u64 c = 0; c < d; ++c) {
            f64 &error = out.state[r * d + c];
            const f64 now = std::fabs(step.state[r * d + c]);
            error = 1.01 * (error + std::fabs(token.k[c]) * of_u + ulp * now + tiny);
            of_o += (error + terms * ulp * now) * std::fabs(token.q[c]) + tiny;
            open |= overflows(now, error) || vanishes(u, of_u, token.k[c]);
            o_terms += std::isfinite(now * token.q[c]) ? std::fabs(now * token.q[c]) : 0;
        }
        out.open[r] = open || overflows(o_terms, 0);
        out.o[r] = 1.01 * (std::fabs(token.scale) * of_o + 2 * ulp * std::fabs(step.o[r]) + tiny);
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
                const ref::GatedDeltaToken x{.q = {&in.qs[(at * p.hk + key) * d], d},
                                             .k = {&in.ks[(at * p.hk + key) * d], d},
                                             .v = {&in.vs[(at * p.h + j) * d], d},
                                             .g = {&in.gs[(at * p.h + j) * in.gates()], in.gates()},
                                             .beta = in.betas[at * p.h + j],
                                             .scale = in.scale};
                const ref::GatedDeltaStep want = ref::gated_delta_step(before, x);
                const Errors most = errors(in, before, x, want);
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
                for (u64 r = 0; r < d; ++r)
                    if (const f32 o = got.o[(at * p.h + j) * d + r];
                        !right(o, want.o[r], most.o[r], most.open[r]))
                        return t.fail(fmt::format("o[{},{},{},{}] is {}, not {} within {}", i,
                                                  token, j, r, o, want.o[r], most.o[r]),
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
