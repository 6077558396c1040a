// SPDX-License-Identifier: MIT
// Chooses rows of gen/tuning from times, and sums up their gain.
#pragma once
#include <span>
#include <string>

#include "nw/tune/tuning_table.h"
#include "runtime/catalogue.h"

namespace nw::cli {

// The times of these kernels on one shape; the first is the default.
TunedShape decide(std::span<const Kernel *const>, std::span<const f64> us, const std::string &by);

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
