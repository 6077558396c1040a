// SPDX-License-Identifier: MIT
// ssm_conv: within what its contract states of the f64 reference, with and without bias and SiLU,
// for whole quads of tokens and rests, and nothing but the rows' own.
#include "ref/ssm_conv.h"

#include <cmath>
#include <fmt/format.h>

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
    u64 pad = 0; // elements between rows
    bool silu = true, bias = true, permuted = false, hard = false;
    f32 size = 1;
};

f64 if_finite(f64 x) { return std::isfinite(x) ? x : 0; }

// `size`: the sum of the magnitudes. Where f32 can't hold it, a sum on the way may be infinite.
bool within(f64 y, f64 want, f64 most, f64 size) {
    if (std::isnan(want))
        return std::isnan(y);
    if (std::isinf(want))
        return y == want;
    if (size > f64{std::numeric_limits<f32>::max()} && !std::isfinite(y))
        return true;
    return std::fabs(y - want) <= most;
}

void check_case(Test &t, const Kernel &kernel, const Case &p, const char *what,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("b={} n={} tokens={} pad={} silu={} bias={} {}", p.b, p.n, p.tokens, p.pad,
                        p.silu, p.bias, what));
    const u32 taps = kernel.number("taps"), row = p.tokens + taps - 1;
    const Tensor in = check::tensor({row, p.n, p.b, 1}, 4, p.pad, p.permuted),
                 out = check::tensor({p.n, p.tokens, p.b, 1}, 4, p.pad);
    const std::vector<f32> xs = p.hard ? check::hard_values(t.rng, in.elements())
                                       : check::normal_values(t.rng, in.elements(), p.size),
                           ws = check::normal_values(t.rng, u64{p.n} * taps),
                           biases = check::normal_values(t.rng, p.bias ? p.n : 0);
    const Region x = t.region<u8>(check::placed(in, xs)), w = t.region<f32>(ws),
                 bias = t.region<f32>(biases),
                 y = t.region<u8>(std::vector<u8>(out.bytes(), Tensor::poison));
    launch(t.modules, kernel,
           ops::SsmConv{.taps = taps,
                        .silu = p.silu,
                        .b = p.b,
                        .n = p.n,
                        .tokens = p.tokens,
                        .x = static_cast<const f32 *>(x.data()),
                        .w = static_cast<const f32 *>(w.data()),
                        .bias = p.bias ? static_cast<const f32 *>(bias.data()) : nullptr,
                        .y = static_cast<f32 *>(y.data()),
                        .x_b = in.stride[2],
                        .x_stride = in.stride[1],
                        .y_b = out.stride[2],
                        .y_stride = out.stride[1]});
    t.modules.device().synchronize();
    ++t.launches;
    for (const auto &[name, region] : {std::pair{"x", &x}, {"w", &w}, {"bias", &bias}})
        t.unchanged(name, *region, where);
    const std::vector<f32> got = check::taken<f32>(t, "y", out, y, where);
    const ref::SsmConv shape{p.b, p.n, p.tokens, taps, p.silu};
    const std::vector<f64> sums = ref::ssm_conv_sums(shape, xs, ws, biases),
                           sizes = ref::ssm_conv_sums(shape, xs, ws, biases, true);
    for (u64 i = 0; i < got.size(); ++i) {
        const f64 z = sums[i], error = if_finite(sizes[i]) * (taps + 1) * 0x1p-24 + 0x1p-148;
        const f64 want = p.silu ? ref::silu(z) : z;
        // SiLU's slope is at most 1.1.
        const f64 own =
            std::fabs(want) * 0x1p-23 * (2 * std::fabs(z) + 4) + 0x1p-126 * std::fabs(z);
        const f64 most = p.silu ? 1.1 * error + if_finite(own) : error;
        if (!within(got[i], want, most, sizes[i]))
            return t.fail(fmt::format("y of row {}, [{}], is {}, not {} within {}", i / p.n,
                                      i % p.n, got[i], want, most),
                          where);
    }
}

} // namespace

CHECK_FAMILY(ssm_conv) {
    const u32 tile = 4 * kernel.number("quads");
    if (t.entry)
        return check_case(t, kernel, {.b = 1, .n = 130, .tokens = 5}, "entry");
    check_case(t, kernel, {.b = 2, .n = 33, .tokens = tile + 7, .pad = 3, .permuted = true},
               "two tiles");
    check_case(t, kernel, {.b = 3, .n = 40, .tokens = 1, .silu = false, .bias = false}, "a token");
    check_case(t, kernel, {.b = 1, .n = 31, .tokens = 6, .pad = 1, .bias = false}, "quad and rest");
    check_case(t, kernel, {.b = 1, .n = 70, .tokens = 12, .silu = false, .hard = true}, "hard");
    if (t.checkers)
        return;
    for (const u32 tokens : {2u, 3u, 4u, 5u, tile - 1, tile, tile + 1, 4 * tile + 2})
        check_case(t, kernel, {.b = 1, .n = 65, .tokens = tokens}, "tokens");
    check_case(t, kernel, {.b = 2, .n = 129, .tokens = 9, .size = 40}, "large");
    check_case(t, kernel, {.b = 2, .n = 129, .tokens = 9, .size = 0.01f}, "small");
}
