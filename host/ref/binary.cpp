// SPDX-License-Identifier: MIT
#include "ref/binary.h"

#include <fmt/format.h>

#include "base/error.h"
#include "ref/need_size.h"

namespace nw::ref {

namespace {

u64 size_of(const Shape &shape) { return u64{shape[0]} * shape[1] * shape[2] * shape[3]; }

f32 value(std::string_view function, f32 a, f32 b) {
    if (function == "add")
        return a + b;
    if (function == "sub")
        return a - b;
    if (function == "mul")
        return a * b;
    if (function == "div")
        return a / b;
    throw Error(fmt::format("function = {}: must be add, sub, mul or div", function));
}

} // namespace

std::vector<f32> binary(std::string_view function, std::span<const f32> a, Shape n,
                        std::span<const f32> b, Shape b_n) {
    need_size("a", a.size(), size_of(n));
    need_size("b", b.size(), size_of(b_n));
    std::vector<f32> c;
    c.reserve(a.size());
    for (u64 i3 = 0; i3 < n[3]; ++i3)
        for (u64 i2 = 0; i2 < n[2]; ++i2)
            for (u64 i1 = 0; i1 < n[1]; ++i1)
                for (u64 i0 = 0; i0 < n[0]; ++i0) {
                    const u64 row = (i3 % b_n[3] * b_n[2] + i2 % b_n[2]) * b_n[1] + i1 % b_n[1];
                    c.push_back(value(function, a[c.size()], b[row * b_n[0] + i0 % b_n[0]]));
                }
    return c;
}

} // namespace nw::ref
