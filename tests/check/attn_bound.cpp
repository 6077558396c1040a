// SPDX-License-Identifier: MIT
#include "check/attn_bound.h"

#include <cmath>
#include <fmt/format.h>

namespace nw::check {

namespace {

// p is rounded towards 0 by up to this relative error, and so is its sum: a common factor cancels,
// so each is off by half of it.
f64 of_p(Dtype dtype) { return dtype == Dtype::f16 ? 0x1p-10 : 0x1p-7; }

// Logits, and weights of parts, are f32 sums; a difference in them is one of p.
f64 of_logits(const ref::AttnResult &exact, u64 row) { return 0x1p-20 * (4 + exact.dot[row]); }

} // namespace

std::vector<f64> attention_bounds(Dtype dtype, const ref::AttnResult &exact, u32 sq, u32 h, u32 d) {
    std::vector<f64> out(exact.o.size());
    for (u64 i = 0; i < out.size(); ++i) {
        const u64 head = i / d % h, row = i / d / h % sq, b = i / d / h / sq;
        out[i] = (of_p(dtype) / 2 + of_logits(exact, (b * h + head) * sq + row)) *
                     (exact.abs[i] + std::abs(exact.o[i])) +
                 exact.small[i];
    }
    return out;
}

std::string lse_difference(Dtype dtype, const ref::AttnResult &exact, std::span<const f32> lse) {
    for (u64 i = 0; i < exact.lse.size(); ++i) {
        const f64 want = exact.lse[i], x = lse[i];
        const f64 off = of_p(dtype) + of_logits(exact, i) + 0x1p-15 * exact.keys[i];
        const bool right = std::isnan(want)   ? std::isnan(x)
                           : std::isinf(want) ? x == want
                                              : std::abs(x - want) <= off;
        if (!right)
            return fmt::format("lse[{}] is {}, not {} +- {}", i, x, want, off);
    }
    return "";
}

} // namespace nw::check
