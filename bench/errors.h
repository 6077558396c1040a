// SPDX-License-Identifier: MIT
// Distance of kernels' outputs from the exact result.
#pragma once
#include <span>
#include <string_view>

#include "base/types.h"

namespace nw::bench {

inline constexpr std::string_view error_unit =
    "max, mean: |C - exact| in units of one rounding of the type (ulp) at the exact result or, "
    "if\n"
    "larger, at the root mean square of its row of C: an ulp of a sum that cancels would be too\n"
    "small a unit. Rounding C costs up to 0.5.\n";

struct Errors {
    f64 max = 0, sum = 0; // see error_unit
    u64 outputs = 0;
    u64 out_of_bound = 0; // outputs further from the exact result than their bound

    // A row of C.
    void add(Dtype, std::span<const f64> exact, std::span<const f64> bound,
             std::span<const u16> got);
    f64 mean() const { return sum / static_cast<f64>(outputs); }
};

} // namespace nw::bench
