// SPDX-License-Identifier: MIT
#include "ref/argmax.h"

#include <cmath>

namespace nw::ref {

i32 argmax(std::span<const f32> x) {
    f32 most = -INFINITY;
    i32 out = 0;
    for (u64 i = 0; i < x.size(); ++i)
        if (x[i] >= most) {
            most = x[i];
            out = static_cast<i32>(i);
        }
    return out;
}

} // namespace nw::ref
