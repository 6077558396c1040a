// SPDX-License-Identifier: MIT
// wkv: results and states of the f64 reference, within rounding errors of the terms that they sum,
// for sequences of tokens, and the same bits whatever the number of launches.
#include "ref/wkv.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "check/check.h"
#include "kernels/tensor.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

struct Case {
    u32 b, tokens, h;
    f32 scale = 0.125f;
};

struct Inputs {
    std::vector<f32> q, k, v, g, bonus, remove, replace, state;
};

struct Results {
    std::vector<f32> o, state;
};

// Sizes such that states neither vanish nor grow.
Inputs inputs(Test &t, u64 vectors, u64 heads, u64 states, u64 d) {
    const auto normal = [&](u64 count, f32 size) {
        return check::normal_values(t.rng, count, size);
    };
    Inputs in{normal(vectors * d, 1),     normal(vectors * d, 1),   normal(vectors * d, 1),
              normal(vectors * d, 0.05f), normal(heads * d, 1),     normal(vectors * d, 0.1f),
              normal(vectors * d, 0.1f),  normal(states * d * d, 1)};
    for (f32 &g : in.g)
        g += 0.8f;
    return in;
}

Results run(Test &t, const Kernel &kernel, const Inputs &in, const Case &p,
            std::source_location where) {
    const u32 d = kernel.number("d");
    const std::string function(kernel.param("function"));
    const Region q = t.region<f32>(in.q), k = t.region<f32>(in.k), v = t.region<f32>(in.v),
                 g = t.region<f32>(in.g), bonus = t.region<f32>(in.bonus),
                 remove = t.region<f32>(in.remove), replace = t.region<f32>(in.replace),
                 state = t.region<f32>(in.state),
                 o = t.region<f32>(std::vector<f32>(in.q.size(), NAN)),
                 made = t.region<f32>(std::vector<f32>(in.state.size(), NAN));
    const auto of = [](const Region &region) { return static_cast<const f32 *>(region.data()); };
    launch(t.modules, kernel,
           ops::Wkv{.function = kernel.param("function"),
                    .d = d,
                    .b = p.b,
                    .tokens = p.tokens,
                    .h = p.h,
                    .scale = p.scale,
                    .q = of(q),
                    .k = of(k),
                    .v = of(v),
                    .g = of(g),
                    .bonus = function == "rwkv6" ? of(bonus) : nullptr,
                    .remove = function == "rwkv7" ? of(remove) : nullptr,
                    .replace = function == "rwkv7" ? of(replace) : nullptr,
                    .state = of(state),
                    .new_state = static_cast<f32 *>(made.data()),
                    .o = static_cast<f32 *>(o.data())});
    t.modules.device().synchronize();
    ++t.launches;
    for (const auto &[name, region] :
         {std::pair{"q", &q}, {"k", &k}, {"v", &v}, {"g", &g}, {"state", &state}})
        t.unchanged(name, *region, where);
    t.guards_clean("o", o, where);
    t.guards_clean("new_state", made, where);
    return {o.read_as<f32>(), made.read_as<f32>()};
}

bool near(f32 got, f64 want, f64 size, u32 steps) {
    return std::fabs(got - want) <= size * (steps * 4 + 24) * 0x1p-24 + 0x1p-140;
}

// Head j of sequence i, token after token.
bool check_head(Test &t, const Kernel &kernel, const Inputs &in, const Results &got, const Case &p,
                u32 i, u32 j, std::source_location where) {
    const std::string function(kernel.param("function"));
    const u64 d = kernel.number("d"), first = (u64{i} * p.h + j) * d * d;
    std::vector<f64> state(&in.state[first], &in.state[first] + d * d), sizes;
    for (const f64 s : state)
        sizes.push_back(std::fabs(s));
    for (u32 token = 0; token < p.tokens; ++token) {
        const u64 at = ((u64{i} * p.tokens + token) * p.h + j) * d;
        const auto of = [&](const std::vector<f32> &x) { return std::span(&x[at], d); };
        ref::WkvToken x{of(in.q),      of(in.k),      of(in.v), of(in.g), {&in.bonus[j * d], d},
                        of(in.remove), of(in.replace)};
        if (function == "gla")
            x.scale = p.scale;
        const ref::WkvStep step = ref::wkv_step(function, state, x, sizes);
        sizes = step.of_state;
        for (u64 e = 0; e < d; ++e)
            if (!near(got.o[at + e], step.o[e], step.of_o[e], token + 1))
                return t.fail(
                           fmt::format("o of sequence {}, token {}, head {}, [{}], is {}, not {}",
                                       i, token, j, e, got.o[at + e], step.o[e]),
                           where),
                       false;
    }
    for (u64 e = 0; e < d * d; ++e)
        if (!near(got.state[first + e], state[e], sizes[e], p.tokens))
            return t.fail(fmt::format("state of sequence {}, head {}, [{}], is {}, not {}", i, j, e,
                                      got.state[first + e], state[e]),
                          where),
                   false;
    return true;
}

void check_case(Test &t, const Kernel &kernel, const Case &p, const char *what,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("b={} tokens={} h={} {}", p.b, p.tokens, p.h, what));
    const Inputs in = inputs(t, u64{p.b} * p.tokens * p.h, p.h, u64{p.b} * p.h, kernel.number("d"));
    const Results got = run(t, kernel, in, p, where);
    for (u32 i = 0; i < p.b; ++i)
        for (u32 j = 0; j < p.h; ++j)
            if (!check_head(t, kernel, in, got, p, i, j, where))
                return;
}

} // namespace

CHECK_FAMILY(wkv) {
    if (t.entry)
        return check_case(t, kernel, {1, 2, 2}, "entry");
    check_case(t, kernel, {2, 3, 3}, "sequences");
    check_case(t, kernel, {1, 1, 2}, "a token");
    if (t.checkers)
        return;
    check_case(t, kernel, {1, 2, 5}, "two tokens");
    check_case(t, kernel, {3, 33, 2}, "many");
}
