// SPDX-License-Identifier: MIT
#include "check/near.h"

#include "ref/moe.h"

namespace nw::check {

constexpr f64 u = 0x1p-24;

// SiLU of a g that has an error itself:
//
//   the slope of SiLU is below 1.1;
//   -g * log2 e is rounded twice, constant and product, which changes E = e^-g by 2u|g| of itself;
//   exp2 and rcp are within 2u of themselves each (S-010), the sum and the last product within u:
//   what moves E moves 1 + E by E / (1 + E) of that, so that in all u * (2|g| E/(1 + E) + 6) of the
//   result; 8 covers second-order terms;
//   where E leaves the normal numbers, or its reciprocal does, nothing is left of a result that is
//   below 128 * 2^-126.
Near silu(const Near &g) {
    const f64 exact = ref::silu(g.exact), slope = 1.1 * g.off;
    const f64 e = std::exp(-g.exact), part = std::isinf(e) ? 1 : e / (1 + e);
    const f64 relative = u * (2 * g.most() * part + 8);
    return {exact, slope + relative * (std::fabs(exact) + slope) + 0x1p-119};
}

// A product of two, rounded to f32.
Near times(const Near &a, const Near &b) {
    const f64 off = a.off * b.most() + std::fabs(a.exact) * b.off;
    return {a.exact * b.exact, off + u * (std::fabs(a.exact * b.exact) + off) + 0x1p-149};
}

std::vector<f64> bound_of_c(const ref::PrefillResult &r, u64 n, std::vector<f64> y) {
    if (r.c.size() == y.size())
        return y;
    std::vector<f64> out(r.c.size());
    const u64 columns = n / 2;
    for (u64 i = 0; i < out.size(); ++i) {
        const u64 gate = i / columns * n + i % columns, up = gate + columns;
        out[i] = times(silu({r.y.c[gate], y[gate]}), {r.y.c[up], y[up]}).off + 0x1p-126;
    }
    return out;
}

} // namespace nw::check
