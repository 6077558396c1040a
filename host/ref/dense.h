// SPDX-License-Identifier: MIT
// Products of matrices in batches of two dimensions.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

struct DenseShape {
    u32 m = 1, n = 1, k = 1;
    u32 n2 = 1, n3 = 1;     // matrices of c
    u32 a_n2 = 1;           // of a, which has n3 of them outside
    u32 w_n2 = 1, w_n3 = 1; // of w
};

struct DenseResult {
    std::vector<f64> c;       // [n3][n2][m][n]
    std::vector<f64> terms;   // the sums of |a * w|
    std::vector<f64> largest; // the largest |a| of the row times the sum of |w|
    std::vector<u8> skipped;  // [n3][n2]: ids select no matrix
};

// c[i3,i2] = a[i3, i2 % a_n2] w[j3,j2]^T; j3, j2 = i3 / (n3 / w_n3), i2 / (n2 / w_n2), or with ids
// [n3][n2] 0, ids[i3,i2]. All contiguous. Throws Error where sizes don't fit.
DenseResult dense(const DenseShape &, std::span<const f32> a, std::span<const f32> w,
                  std::span<const i32> ids = {});

} // namespace nw::ref
