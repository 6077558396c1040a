// SPDX-License-Identifier: MIT
// A matrix product in plain double arithmetic: C[m, n] = sum_k A[m, k] * B[n, k].
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

struct GemmF16 {
    u32 m, n, k;
    std::span<const u16> a, b; // [M, K], [N, K], bits of f16
};

// Each [M, N].
struct GemmResult {
    std::vector<f64> c;
    std::vector<f64> terms; // sum_k |a * b|
};

GemmResult gemm_f16(const GemmF16 &);

} // namespace nw::ref
