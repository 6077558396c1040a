// SPDX-License-Identifier: MIT
#include "ref/carrier.h"

#include "base/half.h"

namespace nw::ref {

u32 carrier(Dtype dtype, u16 s, u32 z) {
    const u32 upper =
        dtype == Dtype::f16 ? round_to(dtype, -static_cast<f64>(z) * to_f32(dtype, s)) : z;
    return s | upper << 16;
}

} // namespace nw::ref
