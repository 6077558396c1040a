// SPDX-License-Identifier: MIT
#include "kernels/tensor.h"

#include <cmath>
#include <limits>

namespace nw::check {

Tensor tensor(std::array<u32, 4> n, u64 size, u64 pad, bool permuted) {
    const u64 row = (n[0] + pad) * size;
    return {n, {size, permuted ? row * n[2] : row, permuted ? row : row * n[1], row * n[1] * n[2]}};
}

std::vector<f32> hard_values(Rng &rng, u64 count, bool second) {
    constexpr f32 inf = std::numeric_limits<f32>::infinity(), most = 0x1.fffffep127f;
    constexpr std::array<f32, 20> hard = {
        0.0f,      -0.0f,      1.0f,        -1.0f,         inf,      -inf,      NAN,
        0x1p-149f, -0x1p-149f, 0x1.8p-127f, -0x1p-126f,    0x1p127f, -0x1p127f, most,
        -most,     3.0f,       7.5f,        0x1.fffffep0f, 0x1p-64f, -10.0f};
    std::vector<f32> out;
    for (u64 i = 0; i < count; ++i) {
        const f32 size = std::ldexp(1.0f, static_cast<int>(rng.below(200)) - 100);
        const f32 random = rng.normal() * size;
        out.push_back(i >= hard.size() * hard.size()
                          ? random
                          : hard[(second ? i / hard.size() : i) % hard.size()]);
    }
    return out;
}

std::vector<f32> normal_values(Rng &rng, u64 count, f32 size) {
    std::vector<f32> out(count);
    for (f32 &x : out)
        x = rng.normal() * size;
    return out;
}

} // namespace nw::check
