// SPDX-License-Identifier: MIT
// Chooses rows of gen/tuning from times, and sums up their gain.
#pragma once
#include <span>
#include <string>

#include "nw/tune/tuning_table.h"
#include "runtime/catalogue.h"

namespace nw::cli {

// From the times of these kernels on one shape. The first is the default, which another one
// replaces if it is faster by that gain: 0.035 for 3.5 %.
TunedShape decide(std::span<const Kernel *const>, std::span<const f64> us, const std::string &by,
                  f64 least_gain);

// Speedup of the choice over the default.
class Gain {
public:
    void add(const TunedShape &, std::string_view default_kernel, const std::string &what);
    std::string text() const;

private:
    u64 shapes_ = 0, changed_ = 0;
    f64 logs_ = 0, most_ = 1;
    std::string where_;
};

} // namespace nw::cli
