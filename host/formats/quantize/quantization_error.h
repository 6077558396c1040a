// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <limits>
#include <span>

#include "base/types.h"

namespace nw {

// The difference between weights and what is stored for them.
struct QuantizationError {
    f64 weights2 = 0, errors2 = 0; // sums of squares
    f64 largest = 0;               // |weight - stored|
    u64 largest_at = 0;            // index of the weight, row-major

    void add(std::span<const f32> weights, std::span<const f64> stored, u64 first) {
        f64 w2 = 0, e2 = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            const f64 w = weights[i], e = std::fabs(w - stored[i]);
            w2 += w * w;
            e2 += e * e;
            if (e > largest)
                largest = e, largest_at = first + i;
        }
        weights2 += w2;
        errors2 += e2;
    }
    void add(const QuantizationError &more) {
        weights2 += more.weights2;
        errors2 += more.errors2;
        if (more.largest > largest)
            largest = more.largest, largest_at = more.largest_at;
    }
    // Normalized mean squared error: 0 without error, infinite if weights that are all zero have
    // one.
    f64 nmse() const {
        if (errors2 == 0)
            return 0;
        return weights2 > 0 ? errors2 / weights2 : std::numeric_limits<f64>::infinity();
    }
};

} // namespace nw
