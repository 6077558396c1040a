// SPDX-License-Identifier: MIT
#include "ref/pad_tensor.h"

#include <cmath>

namespace nw::ref {

namespace {

// Where x's element is that y has at i; -1 if it has none.
i64 place_of(const Padding &p, const std::array<u32, 4> &i) {
    const i64 diagonal = i64{i[0]} - i64{i[1]} + i64{p.n[1]} - 1;
    if (diagonal < static_cast<i64>(p.first) || diagonal >= static_cast<i64>(p.first + p.count))
        return -1;
    i64 out = 0;
    for (int d = 3; d >= 0; --d) {
        i64 j = i64{i[d]} - i64{p.at[d]};
        const i64 size = p.x_n[d];
        if (p.wrap)
            j = (j % size + size) % size;
        if (j < 0 || j >= size)
            return -1;
        out = out * size + j;
    }
    return out;
}

} // namespace

std::vector<f32> pad_tensor(const Padding &p, std::span<const f32> x) {
    std::vector<f32> y;
    std::array<u32, 4> i;
    for (i[3] = 0; i[3] < p.n[3]; ++i[3])
        for (i[2] = 0; i[2] < p.n[2]; ++i[2])
            for (i[1] = 0; i[1] < p.n[1]; ++i[1])
                for (i[0] = 0; i[0] < p.n[0]; ++i[0]) {
                    const i64 from = x.empty() ? -1 : place_of(p, i);
                    y.push_back(from >= 0 ? x[static_cast<u64>(from)]
                                          : std::fma(p.increment, static_cast<f32>(i[0]), p.value));
                }
    return y;
}

} // namespace nw::ref
