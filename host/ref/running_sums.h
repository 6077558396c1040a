// SPDX-License-Identifier: MIT
// Sums of many terms in double.
#pragma once
#include <array>

#include "base/types.h"

namespace nw::ref {

// Four independent sums, added at the end. In double the result differs from that of one sum by a
// negligible part of a kernel's tolerance.
class RunningSums {
public:
    static constexpr u32 count = 4;

    void add(u32 at, f64 term) { sums_[at] += term; } // at < count
    f64 total() const { return sums_[0] + sums_[1] + sums_[2] + sums_[3]; }

private:
    std::array<f64, count> sums_{};
};

} // namespace nw::ref
