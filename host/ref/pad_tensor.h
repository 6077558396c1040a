// SPDX-License-Identifier: MIT
// Tensors of four dimensions made from indices.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

struct Padding {
    std::array<u32, 4> n, x_n; // sizes of y and x, the innermost dimension first
    std::array<u32, 4> at{};   // of y's element that is x's first
    bool wrap = false;         // x goes on beyond its ends
    // Diagonals of the first two dimensions, from i0 = 0, i1 = n1 - 1 on, where x counts.
    u64 first = 0, count = ~u32{0};
    f32 value = 0, increment = 0; // elsewhere: value + increment * i0
};

// y of contiguous x; no x: none counts.
std::vector<f32> pad_tensor(const Padding &, std::span<const f32> x);

} // namespace nw::ref
