// SPDX-License-Identifier: MIT
#include "ref/cumsum.h"

namespace nw::ref {

std::vector<f64> cumsum(std::span<const f32> x) {
    std::vector<f64> y;
    f64 sum = 0;
    for (const f32 one : x)
        y.push_back(sum += one);
    return y;
}

} // namespace nw::ref
