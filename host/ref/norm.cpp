// SPDX-License-Identifier: MIT
#include "ref/norm.h"

#include <cmath>
#include <fmt/format.h>

#include "base/error.h"

namespace nw::ref {

namespace {

f64 square_sum(std::span<const f32> x, f64 mean) {
    f64 sum = 0;
    for (const f32 one : x)
        sum += (one - mean) * (one - mean);
    return sum;
}

} // namespace

NormRow norm_row(std::string_view function, std::span<const f32> x, f32 eps) {
    NormRow out;
    const f64 k = static_cast<f64>(x.size());
    if (function == "layer") {
        for (const f32 one : x)
            out.mean += one / k;
    } else if (function != "rms" && function != "l2") {
        throw Error(fmt::format("function = {}: must be layer, rms or l2", function));
    }
    const f64 sum = square_sum(x, out.mean);
    out.r =
        function == "l2" ? 1 / std::fmax(std::sqrt(sum), f64{eps}) : 1 / std::sqrt(sum / k + eps);
    for (const f32 one : x)
        out.y.push_back((one - out.mean) * out.r);
    return out;
}

} // namespace nw::ref
