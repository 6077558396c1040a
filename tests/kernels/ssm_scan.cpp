// SPDX-License-Identifier: MIT
// ssm_scan: results and states of the f64 reference, within rounding errors of the terms that they
// sum, of states by index, with snapshots, x and k and q in rows with gaps.
#include "ref/ssm_scan.h"

#include <cmath>
#include <fmt/format.h>

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
    u32 b, tokens, h, d, groups;
    u32 slots = 1, states = 0; // 0: b
    u64 pad = 0;
    std::vector<i32> idx = {};

    u32 row_of(u32 i) const {
        return idx.empty() ? i : static_cast<u32>(std::clamp(idx[i], 0, i32(states) - 1));
    }
};

struct Memory {
    Tensor x, k, states;
    u64 n;
};

struct Inputs {
    std::vector<f32> x, dt, a, k, q, state;
};

struct Results {
    std::vector<f32> o, state;
};

Memory memory_of(const Kernel &kernel, const Case &p) {
    const u32 n = kernel.number("n");
    return {check::tensor({p.h * p.d, p.tokens, p.b, 1}, 4, p.pad),
            check::tensor({p.groups * n, p.tokens, p.b, 1}, 4, 2 * p.pad),
            check::tensor({p.h * p.d * n, p.states ? p.states : p.b, 1, 1}, 4, 0), n};
}

Inputs inputs(Test &t, const Kernel &kernel, const Case &p, const Memory &m) {
    const auto normal = [&](u64 count, f32 size) {
        return check::normal_values(t.rng, count, size);
    };
    Inputs in{normal(m.x.elements(), 1),
              normal(u64{p.b} * p.tokens * p.h, 2),
              normal(p.h * (kernel.number("vector_gate") ? m.n : 1), 0.3f),
              normal(m.k.elements(), 1),
              normal(m.k.elements(), 1),
              normal(m.states.elements(), 1)};
    for (f32 &a : in.a)
        a = -std::fabs(a);
    in.dt[0] = 25; // above softplus's bound
    return in;
}

Results run(Test &t, const Kernel &kernel, const Case &p, const Memory &m, const Inputs &in,
            std::source_location where) {
    const u32 written = std::min(p.slots, p.tokens);
    const Region x = t.region<u8>(check::placed(m.x, in.x)), dt = t.region<f32>(in.dt),
                 a = t.region<f32>(in.a), k = t.region<u8>(check::placed(m.k, in.k)),
                 q = t.region<u8>(check::placed(m.k, in.q)), state = t.region<f32>(in.state),
                 idx = t.region<i32>(p.idx), o = t.region<f32>(std::vector<f32>(in.x.size(), NAN)),
                 made = t.region<f32>(std::vector<f32>(u64{written} * p.b * p.h * p.d * m.n, NAN));
    const auto of = [](const Region &region) { return static_cast<const f32 *>(region.data()); };
    launch(t.modules, kernel,
           ops::SsmScan{.n = m.n,
                        .vector_gate = kernel.number("vector_gate") != 0,
                        .b = p.b,
                        .tokens = p.tokens,
                        .h = p.h,
                        .d = p.d,
                        .groups = p.groups,
                        .slots = p.slots,
                        .states = p.states ? p.states : p.b,
                        .x = of(x),
                        .dt = of(dt),
                        .a = of(a),
                        .k = of(k),
                        .q = of(q),
                        .state = of(state),
                        .new_state = static_cast<f32 *>(made.data()),
                        .o = static_cast<f32 *>(o.data()),
                        .idx = p.idx.empty() ? nullptr : static_cast<const i32 *>(idx.data()),
                        .x_b = m.x.stride[2],
                        .x_s = m.x.stride[1],
                        .k_b = m.k.stride[2],
                        .k_s = m.k.stride[1],
                        .q_b = m.k.stride[2],
                        .q_s = m.k.stride[1],
                        .state_stride = m.states.stride[1],
                        .slot_stride = m.states.stride[1] * p.b});
    t.modules.device().synchronize();
    ++t.launches;
    for (const auto &[name, region] :
         {std::pair{"x", &x}, {"dt", &dt}, {"k", &k}, {"q", &q}, {"state", &state}})
        t.unchanged(name, *region, where);
    t.guards_clean("o", o, where);
    t.guards_clean("new_state", made, where);
    return {o.read_as<f32>(), made.read_as<f32>()};
}

// t brings 2^-22 (1 + t) into each term, a decay 2^-23 (|t a| + 2) each token.
bool near(f32 got, f64 want, f64 size, u32 steps) {
    return std::fabs(got - want) <= size * (steps * 64 + 64) * 0x1p-24 + 0x1p-120;
}

bool check_row(Test &t, const Case &p, const Memory &m, const Inputs &in, const Results &got, u32 i,
               u64 row, std::source_location where) {
    const u64 head = row / p.d, group = head / (p.h / p.groups), gates = in.a.size() / p.h;
    const f32 *first = &in.state[p.row_of(i) * u64{p.h} * p.d * m.n + row * m.n];
    std::vector<f64> state(first, first + m.n), sizes;
    for (const f64 s : state)
        sizes.push_back(std::fabs(s));
    for (u32 token = 0; token < p.tokens; ++token) {
        const u64 at = u64{i} * p.tokens + token, vector = (at * p.groups + group) * m.n;
        const ref::SsmStep step = ref::ssm_scan_step(state,
                                                     {in.x[at * p.h * p.d + row],
                                                      in.dt[at * p.h + head],
                                                      {&in.a[head * gates], gates},
                                                      {&in.k[vector], m.n},
                                                      {&in.q[vector], m.n}},
                                                     sizes);
        sizes = step.of_state;
        if (const f32 o = got.o[at * p.h * p.d + row]; !near(o, step.o, step.of_o, token + 1))
            return t.fail(fmt::format("o of sequence {}, token {}, row {}, is {}, not {}", i, token,
                                      row, o, step.o),
                          where),
                   false;
        const u64 slot = p.tokens - 1 - token;
        for (u64 c = 0; slot < p.slots && c < m.n; ++c)
            if (const f32 s = got.state[((slot * p.b + i) * p.h * p.d + row) * m.n + c];
                !near(s, state[c], sizes[c], token + 1))
                return t.fail(fmt::format("state {} of sequence {}, row {}, [{}], is {}, not {}",
                                          slot, i, row, c, s, state[c]),
                              where),
                       false;
    }
    return true;
}

void check_case(Test &t, const Kernel &kernel, const Case &p, const char *what,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("b={} tokens={} h={} d={} groups={} slots={} {}", p.b, p.tokens, p.h, p.d,
                        p.groups, p.slots, what));
    const Memory m = memory_of(kernel, p);
    const Inputs in = inputs(t, kernel, p, m);
    const Results got = run(t, kernel, p, m, in, where);
    for (u32 i = 0; i < p.b; ++i)
        for (u64 row = 0; row < u64{p.h} * p.d; ++row)
            if (!check_row(t, p, m, in, got, i, row, where))
                return;
}

} // namespace

CHECK_FAMILY(ssm_scan) {
    if (t.entry)
        return check_case(t, kernel, {1, 2, 2, 6, 1}, "entry");
    check_case(t, kernel, {.b = 2, .tokens = 3, .h = 4, .d = 6, .groups = 2, .pad = 3}, "gaps");
    check_case(t, kernel,
               {.b = 2,
                .tokens = 4,
                .h = 3,
                .d = 10,
                .groups = 3,
                .slots = 3,
                .states = 5,
                .idx = {4, -2}},
               "indices and snapshots");
    check_case(t, kernel, {1, 1, 5, 2, 1}, "a token");
    if (t.checkers)
        return;
    check_case(t, kernel, {1, 33, 2, 16, 1, 5}, "many tokens");
    check_case(t, kernel, {3, 2, 1, 8, 1, 4}, "more slots than tokens");
}
