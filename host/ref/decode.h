// SPDX-License-Identifier: MIT
// The decode_w4a16 and splitk_w4a16 families in plain double arithmetic:
//
//     C[m, n] = sum_k A[m, k] * (q[n, k] - z) * s[n, k / G] (+ bias[n])    z = z[n, k / G], or 8
//
// with the sums that error bounds need. Sequential, unpacked, simple.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

struct DecodeW4A16 {
    Dtype dtype;
    u32 m, n, k, group;
    std::span<const u16> a;      // [M, K], bits of dtype
    std::span<const u8> q;       // [N, K], 0..15
    std::span<const u16> s;      // [N, K/G]
    std::span<const u16> bias;   // [N], or empty
    std::span<const u16> z = {}; // [N, K/G] zero points, or empty: 8
};

// Each [M, N].
struct DecodeResult {
    std::vector<f64> c;       // the result, before rounding to dtype
    std::vector<f64> terms;   // sum_k |a * (q - z) * s| + |bias|
    std::vector<f64> offsets; // sum_k |a * s|: growth of `terms` for an offset of 1 on every q
};

// Throws Error if a span's size does not match the shape.
DecodeResult decode_w4a16(const DecodeW4A16 &);

} // namespace nw::ref
