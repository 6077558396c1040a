// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::bench {

// The errors that rows would have had they been left out of a least-squares fit, to first order:
// e[i] / (1 - h[i]), h the diagonal of J (J^T J)^-1 J^T (the hat matrix; Allen's PRESS residuals).
// `derivatives[p][i]`: of row i's error by parameter p. Parameters that move nothing, or only what
// others move too, have no part in it.
std::vector<f64> left_out(std::span<const f64> errors,
                          std::span<const std::vector<f64>> derivatives);

} // namespace nw::bench
