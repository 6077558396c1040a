// SPDX-License-Identifier: MIT
#include "check/moe_bound.h"

#include <cmath>

#include "check/decode_bound.h"

namespace nw::check {

namespace {

constexpr f64 u = 0x1p-24;

// Of a value that is near the exact one.
struct Near {
    f64 exact, off;
    f64 most() const { return std::fabs(exact) + off; }
};

// SiLU as the kernel has it, g * rcp(1 + exp2(-g * log2 e)), of a g that is itself off:
//
//   the slope of SiLU is below 1.1;
//   -g * log2 e is rounded twice, constant and product, which changes E = e^-g by 2u|g| of itself;
//   exp2 and rcp are within 2u of themselves each (S-010), the sum and the last product within u:
//   what moves E moves 1 + E by E / (1 + E) of that, so that in all u * (2|g| E/(1 + E) + 6) of the
//   result; 8 for what is of second order;
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

} // namespace

// Up to y a slot is a row of decode_w4a16, whose bound has room for the bias' rounding. Then f32:
// SiLU(gate) * up where asked for, and the weight, which is exact.
std::vector<f64> moe_bound(const Kernel &kernel, const ref::MoeSlot &slot) {
    const std::vector<f64> y_off = decode_bound(kernel, slot.product, slot.y);
    const u64 columns = slot.c.size();
    const auto y = [&](u64 n) { return Near{slot.y.c[n], y_off[n]}; };
    std::vector<f64> out;
    for (u64 n = 0; n < columns; ++n) {
        const Near x = columns < y_off.size() ? times(silu(y(n)), y(n + columns)) : y(n);
        out.push_back(times(x, {slot.weight, 0}).off);
    }
    return out;
}

} // namespace nw::check
