// SPDX-License-Identifier: MIT
// conv_state: sums and states to the bit, SiLU within what the contract states; states apart, in
// place, by index and in other rows of the same cache; nothing but the rows' own.
#include "ref/conv_state.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "check/check.h"
#include "kernels/tensor.h"
#include "ref/moe.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Region;
using check::Tensor;
using check::Test;

namespace {

struct Case {
    u32 b, n, tokens;
    u32 states = 0;            // 0: b
    u64 pad = 0;               // elements between rows
    std::vector<i32> idx = {}; // empty: none
    int first = -1;            // new_state is this row of state and those behind it; -1: apart
    bool silu = true, bias = true, permuted = false, hard = false;

    u32 rows() const { return states ? states : b; }
    std::vector<u32> read() const {
        std::vector<u32> out;
        for (u32 i = 0; i < b; ++i)
            out.push_back(idx.empty() ? i
                                      : static_cast<u32>(
                                            std::clamp(idx[i], 0, static_cast<i32>(rows()) - 1)));
        return out;
    }
};

bool same_bits(f32 a, f32 b) { return std::bit_cast<u32>(a) == std::bit_cast<u32>(b); }

// f of a sum, which is exact.
bool right(f32 y, f32 z, bool silu) {
    if (std::isnan(y) || !silu)
        return silu ? std::isnan(ref::silu(z))
                    : same_bits(y, z) || (std::isnan(y) && std::isnan(z));
    const f64 size = std::fabs(f64{z}), want = ref::silu(z);
    if (std::isinf(want))
        return y == want;
    return std::fabs(y - want) <=
           std::fabs(want) * 0x1p-23 * (2 * size + 4) + 0x1p-126 * size + 0x1p-149;
}

void check_case(Test &t, const Kernel &kernel, const Case &p, const char *what,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("b={} n={} tokens={} states={} pad={} silu={} bias={} {}", p.b, p.n,
                        p.tokens, p.rows(), p.pad, p.silu, p.bias, what));
    const u32 taps = kernel.number("taps"), of_row = p.n * (taps - 1);
    const Tensor in = check::tensor({p.n, p.tokens, p.b, 1}, 4, p.pad, p.permuted),
                 out = check::tensor({p.n, p.tokens, p.b, 1}, 4, 2 * p.pad),
                 cache = check::tensor({of_row, p.rows(), 1, 1}, 4, p.pad),
                 own = check::tensor({of_row, p.b, 1, 1}, 4, 3 * p.pad);
    const auto values = [&](u64 count) {
        return p.hard ? check::hard_values(t.rng, count) : check::normal_values(t.rng, count);
    };
    const std::vector<f32> xs = values(in.elements()), states = values(cache.elements()),
                           ws = check::normal_values(t.rng, u64{p.n} * taps),
                           biases = check::normal_values(t.rng, p.bias ? p.n : 0);
    const Region x = t.region<u8>(check::placed(in, xs)), w = t.region<f32>(ws),
                 bias = t.region<f32>(biases), idx = t.region<i32>(p.idx),
                 state = t.region<u8>(check::placed(cache, states)),
                 apart = t.region<u8>(std::vector<u8>(own.bytes(), Tensor::poison)),
                 y = t.region<u8>(std::vector<u8>(out.bytes(), Tensor::poison));
    const bool within = p.first >= 0;
    u8 *rows = static_cast<u8 *>(within ? state.data() : apart.data());
    if (within)
        rows += static_cast<u64>(p.first) * cache.stride[1];
    launch(t.modules, kernel,
           ops::ConvState{.taps = taps,
                          .silu = p.silu,
                          .b = p.b,
                          .n = p.n,
                          .tokens = p.tokens,
                          .states = p.rows(),
                          .x = static_cast<const f32 *>(x.data()),
                          .w = static_cast<const f32 *>(w.data()),
                          .bias = p.bias ? static_cast<const f32 *>(bias.data()) : nullptr,
                          .state = static_cast<const f32 *>(state.data()),
                          .idx = p.idx.empty() ? nullptr : static_cast<const i32 *>(idx.data()),
                          .new_state = reinterpret_cast<f32 *>(rows),
                          .y = static_cast<f32 *>(y.data()),
                          .x_b = in.stride[2],
                          .x_stride = in.stride[1],
                          .y_b = out.stride[2],
                          .y_stride = out.stride[1],
                          .state_stride = cache.stride[1],
                          .new_stride = within ? cache.stride[1] : own.stride[1]});
    t.modules.device().synchronize();
    ++t.launches;
    for (const auto &[name, region] :
         {std::pair{"x", &x}, {"w", &w}, {"bias", &bias}, {"idx", &idx}})
        t.unchanged(name, *region, where);

    const ref::ConvState shape{p.b, p.n, p.tokens, taps};
    const std::vector<f32> inputs = ref::conv_state_inputs(shape, xs, states, p.read()),
                           sums = ref::conv_state_sums(shape, inputs, ws, biases),
                           kept = ref::conv_state_kept(shape, inputs),
                           got = check::taken<f32>(t, "y", out, y, where);
    for (u64 i = 0; i < got.size(); ++i)
        if (!right(got[i], sums[i], p.silu))
            return t.fail(fmt::format("y of row {}, [{}], is {}; its sum is {}", i / p.n, i % p.n,
                                      got[i], sums[i]),
                          where);
    // The cache as it must be, and as it is.
    std::vector<f32> cached = states;
    if (within)
        std::ranges::copy(kept, cached.begin() + p.first * static_cast<i64>(of_row));
    const std::vector<f32> after = check::taken<f32>(t, "state", cache, state, where),
                           fresh =
                               within ? kept : check::taken<f32>(t, "new_state", own, apart, where);
    for (const auto &[name, a, b] :
         {std::tuple{"state", &after, &std::as_const(cached)}, {"new_state", &fresh, &kept}})
        for (u64 i = 0; i < a->size(); ++i)
            if (!same_bits((*a)[i], (*b)[i]))
                return t.fail(fmt::format("{} of row {}, [{}], is {}, not {}", name, i / of_row,
                                          i % of_row, (*a)[i], (*b)[i]),
                              where);
}

} // namespace

CHECK_FAMILY(conv_state) {
    const u32 span = kernel.number("span");
    if (t.entry)
        return check_case(t, kernel, {.b = 1, .n = 130, .tokens = 2}, "entry");
    check_case(t, kernel, {.b = 2, .n = 70, .tokens = 3, .states = 4, .pad = 3, .idx = {3, -7}},
               "indices");
    check_case(t, kernel, {.b = 3, .n = 33, .tokens = 1, .pad = 1, .first = 0, .silu = false},
               "in place");
    check_case(t, kernel,
               {.b = 1, .n = 40, .tokens = 2, .states = 5, .idx = {2}, .first = 2, .bias = false},
               "in place by index");
    check_case(t, kernel,
               {.b = 2, .n = 31, .tokens = 2, .states = 5, .pad = 1, .first = 2, .permuted = true},
               "rows behind");
    check_case(t, kernel, {.b = 1, .n = 65, .tokens = span + 3, .bias = false}, "two spans");
    check_case(t, kernel, {.b = 2, .n = 96, .tokens = 4, .silu = false, .hard = true}, "hard");
    check_case(t, kernel, {.b = 2, .n = 96, .tokens = 4, .hard = true}, "hard");
    if (t.checkers)
        return;
    for (const u32 tokens : {4u, 5u, 6u, span - 1, span, span + 1, 2 * span, 5 * span + 2})
        check_case(t, kernel, {.b = 1, .n = 45, .tokens = tokens, .first = 0}, "tokens");
    check_case(t, kernel, {.b = 1, .n = 10240, .tokens = 1, .first = 0}, "as Qwen3.6-27B's");
}
