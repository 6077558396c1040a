// SPDX-License-Identifier: MIT
#include "ref/sum_rows.h"

#include <cmath>

namespace nw::ref {

RowSum row_sum(std::span<const f32> x) {
    RowSum out;
    for (const f32 one : x) {
        out.sum += one;
        out.of_sizes += std::fabs(f64{one});
    }
    return out;
}

} // namespace nw::ref
