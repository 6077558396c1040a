// SPDX-License-Identifier: MIT
// Elements of one tensor of four dimensions into another.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>

#include "base/types.h"

namespace nw::ref {

struct Strided {
    std::array<u32, 4> n;      // the innermost dimension first
    std::array<u64, 4> stride; // bytes

    u64 elements() const { return u64{n[0]} * n[1] * n[2] * n[3]; }
    // Bytes from the first element to element i in linear order.
    u64 offset(u64 i) const {
        u64 out = 0;
        for (u32 d = 0; d < 4; i /= n[d], ++d)
            out += i % n[d] * stride[d];
        return out;
    }
    u64 span(u64 size) const { return offset(elements() - 1) + size; }
};

// Types: f32, f16, bf16, i32, converted; or both b8, b16, b32 or b64, moved. Throws Error where
// there is no such conversion, or the number of elements differs.
void copy_tensor(std::string_view x_type, const std::byte *x, const Strided &of_x,
                 std::string_view y_type, std::byte *y, const Strided &of_y);

} // namespace nw::ref
