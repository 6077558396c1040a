// SPDX-License-Identifier: MIT
// A time series with a bounded number of steps: the step widens as the launch gets longer.
#pragma once
#include <vector>

#include "base/types.h"

namespace nw::sim::timing {

class Series {
public:
    static constexpr size_t most = 256; // steps

    // Adds `amount` in each cycle of [from, to).
    void add(u64 from, u64 to, f64 amount);
    // Adds `amount` once.
    void add(u64 at, f64 amount) { sums_[step_of(at)] += amount; }

    u64 step() const { return u64{1} << shift_; } // cycles
    size_t size() const { return used_; }
    // Mean per cycle.
    f64 at(size_t n) const { return sums_[n] / static_cast<f64>(step()); }

private:
    size_t step_of(u64 at); // the step that contains it; widens steps as needed

    std::vector<f64> sums_ = std::vector<f64>(most);
    size_t used_ = 0;
    u32 shift_ = 5;
};

} // namespace nw::sim::timing
