// SPDX-License-Identifier: MIT
#include "check/moe_bound.h"

#include "check/decode_bound.h"
#include "check/near.h"
#include "check/prefill_bound.h"

namespace nw::check {

// Up to y a slot is a row of decode_w4a16 or prefill_w4a16, whose bounds have room for the bias'
// rounding. Then f32: SiLU(gate) * up if requested, and the weight, which is exact.
std::vector<f64> moe_bound(const Kernel &kernel, const ref::MoeSlot &slot) {
    const std::vector<f64> y_off = kernel.family != "moe_w4a16" && kernel.family != "moe_perm_w4a16"
                                       ? prefill_bound(kernel, slot.product, {slot.y, slot.y.c})
                                       : decode_bound(kernel, slot.product, slot.y);
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
