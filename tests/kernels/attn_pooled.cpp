// SPDX-License-Identifier: MIT
// attn_pooled: products of means against f64, each within its own bound.
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "base/half.h"
#include "check/check.h"
#include "check/ops.h"
#include "ref/attn_pooled.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

constexpr u32 untouched = 0xffc0ffee; // a NaN

struct Means {
    Dtype dtype;
    u32 batch;
    ref::AttnBlocks of;
    u32 heads, kv_heads, dim;
    std::vector<u16> q, k;
    f32 scale = 0.088f;

    Means(Test &t, const Kernel &kernel, u32 b, u32 n, u32 h, u32 kv)
        : Means(t, kernel, b, ref::AttnBlocks{128 * n, 128 * n}, h, kv) {}
    Means(Test &t, const Kernel &kernel, u32 b, ref::AttnBlocks tokens, u32 h, u32 kv)
        : dtype(dtype_of(kernel)), batch(b), of(tokens), heads(h), kv_heads(kv), dim(kernel.p.d),
          q(u64{b} * tokens.of_queries() * h * dim), k(u64{b} * tokens.of_keys() * kv * dim) {
        for (u16 &word : q)
            word = round_to(dtype, t.rng.normal());
        for (u16 &word : k)
            word = round_to(dtype, 0.5f + t.rng.normal());
    }
};

void check_scores(Test &t, const Kernel &kernel, const Means &p, const char *what,
                  std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("batch={} sq={} sk={} heads={} kv_heads={} {}", p.batch, p.of.sq, p.of.sk,
                        p.heads, p.kv_heads, what));
    const u64 tiles = p.of.of_queries(), blocks = p.of.of_keys();
    const u64 count = u64{p.batch} * p.heads * tiles * blocks;
    const Region q = t.region<u16>(p.q), k = t.region<u16>(p.k),
                 out = t.region<u32>(std::vector<u32>(count, untouched));
    Op op{.kind = OpKind::attn_pooled};
    op.dtype = word_of(p.dtype), op.d = p.dim;
    op.b = p.batch, op.sq = p.of.sq, op.sk = p.of.sk, op.h = p.heads;
    op.hk = p.kv_heads;
    op.mean_q = address(q.data()), op.mean_k = address(k.data()), op.score = address(out.data());
    op.scale = std::bit_cast<u32>(p.scale);
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("mean_q", q, where);
    t.unchanged("mean_k", k, where);
    t.guards_clean("score", out, where);
    const ref::AttnPooled want =
        ref::attn_pooled(p.dtype, {p.q, p.k, p.batch, p.of, p.heads, p.kv_heads, p.dim}, p.scale);
    const std::vector<u32> got = out.read_as<u32>();
    for (u64 at = 0; at < count; ++at) {
        const u64 m = at / blocks % tiles, n = at % blocks;
        const f64 value = std::bit_cast<f32>(got[at]), wanted = want.score[at];
        const bool ok = n > p.of.last(static_cast<u32>(m)) ? got[at] == untouched
                        : std::isnan(wanted)               ? std::isnan(value)
                        : std::isinf(wanted)
                            ? value == wanted
                            : std::abs(value - wanted) <= 0x1p-20 * want.products[at];
        if (!ok)
            return t.fail(fmt::format("score[{}][{}][{}] is {} (0x{:08x}), not {}",
                                      at / blocks / tiles, m, n, value, got[at], wanted),
                          where);
    }
}

void odd_values(Test &t, const Kernel &kernel) {
    Means p(t, kernel, 1, 20, 1, 1);
    p.q[3 * p.dim] = 0x7fff;
    p.k[5 * p.dim + 1] = round_to(p.dtype, std::numeric_limits<f64>::infinity());
    check_scores(t, kernel, p, "NaN and infinity");
    for (u16 &word : p.k)
        word = round_to(p.dtype, -1);
    for (u16 &word : p.q)
        word = round_to(p.dtype, 1 + t.rng.unit());
    check_scores(t, kernel, p, "negative");
    p.scale = 0;
    check_scores(t, kernel, p, "scale of 0");
}

} // namespace

CHECK_FAMILY(attn_pooled) {
    if (t.entry)
        return check_scores(t, kernel, Means(t, kernel, 1, 17, 1, 1), "entry");
    check_scores(t, kernel, Means(t, kernel, 2, 70, 2, 1), "every path");
    if (t.checkers)
        return;
    for (u32 blocks : {1u, 2u, 15u, 16u, 17u, 64u, 65u})
        check_scores(t, kernel, Means(t, kernel, 1, blocks, 1, 1), "random");
    for (u32 heads : {2u, 4u, 8u})
        check_scores(t, kernel, Means(t, kernel, 1, 9, heads, 1), "random");
    check_scores(t, kernel, Means(t, kernel, 2, 20, 6, 3), "random");
    for (const ref::AttnBlocks &of : {ref::AttnBlocks{1, 129},
                                      {1, 128},
                                      {128, 4096},
                                      {127, 4095},
                                      {129, 2049},
                                      {2100, 2101},
                                      {2100, 4150},
                                      {2048, 2175}})
        check_scores(t, kernel, Means(t, kernel, 2, of, 2, 1), "fewer queries");
    odd_values(t, kernel);
}
