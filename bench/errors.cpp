// SPDX-License-Identifier: MIT
#include "bench/errors.h"

#include <algorithm>
#include <cmath>

#include "base/half.h"

namespace nw::bench {

void Errors::add(Dtype dtype, std::span<const f64> exact, std::span<const f64> bound,
                 std::span<const u16> got) {
    f64 squares = 0;
    for (f64 x : exact)
        squares += x * x;
    const f64 rms = std::sqrt(squares / static_cast<f64>(exact.size()));
    for (u64 i = 0; i < exact.size(); ++i) {
        const f64 x = to_f32(dtype, got[i]);
        const f64 error = std::fabs(x - exact[i]) / ulp(dtype, std::max(std::fabs(exact[i]), rms));
        max = error > max || std::isnan(error) ? error : max;
        sum += error;
        const bool within = x >= to_f32(dtype, round_to(dtype, exact[i] - bound[i])) &&
                            x <= to_f32(dtype, round_to(dtype, exact[i] + bound[i]));
        out_of_bound += !within; // NaN too
    }
    outputs += exact.size();
}

} // namespace nw::bench
