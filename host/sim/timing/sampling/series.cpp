// SPDX-License-Identifier: MIT
#include "sim/timing/sampling/series.h"

#include <algorithm>

namespace nw::sim::timing {

size_t Series::step_of(u64 at) {
    while (at >> shift_ >= most) {
        for (size_t n = 0; n < most / 2; ++n)
            sums_[n] = sums_[2 * n] + sums_[2 * n + 1];
        std::fill(sums_.begin() + most / 2, sums_.end(), 0.0);
        used_ = (used_ + 1) / 2;
        ++shift_;
    }
    const size_t step = at >> shift_;
    used_ = std::max(used_, step + 1);
    return step;
}

void Series::add(u64 from, u64 to, f64 amount) {
    if (from >= to)
        return;
    const size_t last = step_of(to - 1); // before the first: it may widen the steps
    for (size_t n = step_of(from); n <= last; ++n) {
        const u64 begin = std::max(from, n << shift_), end = std::min(to, (n + 1) << shift_);
        sums_[n] += amount * static_cast<f64>(end - begin);
    }
}

} // namespace nw::sim::timing
