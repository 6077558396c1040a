// SPDX-License-Identifier: MIT
#include "ref/copy_tensor.h"

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/half.h"

namespace nw::ref {

namespace {

template <class T> T load(const std::byte *at) {
    T out;
    std::memcpy(&out, at, sizeof out);
    return out;
}

template <class T> void store(std::byte *at, T value) { std::memcpy(at, &value, sizeof value); }

u64 moved_bytes(std::string_view type) {
    return type == "b8"    ? 1
           : type == "b16" ? 2
           : type == "b32" ? 4
           : type == "b64" ? 8
                           : throw Error("no such copy");
}

f32 widened(std::string_view type, const std::byte *at) {
    return type == "f32"    ? load<f32>(at)
           : type == "f16"  ? f16_to_f32(load<u16>(at))
           : type == "bf16" ? bf16_to_f32(load<u16>(at))
                            : static_cast<f32>(load<i32>(at));
}

i32 cut(f32 value) {
    if (std::isnan(value))
        return 0;
    if (value >= 0x1p31f)
        return 0x7fffffff;
    return value <= -0x1p31f ? -0x7fffffff - 1 : static_cast<i32>(value);
}

} // namespace

void copy_tensor(std::string_view x_type, const std::byte *x, const Strided &of_x,
                 std::string_view y_type, std::byte *y, const Strided &of_y) {
    if (of_x.elements() != of_y.elements())
        throw Error("sizes differ");
    for (u64 i = 0; i < of_x.elements(); ++i) {
        const std::byte *from = x + of_x.offset(i);
        std::byte *to = y + of_y.offset(i);
        if (x_type == y_type)
            std::memcpy(to, from, moved_bytes(x_type));
        else if (y_type == "f32")
            store(to, widened(x_type, from));
        else if (y_type == "f16")
            store(to, f32_to_f16(widened(x_type, from)));
        else if (y_type == "bf16")
            store(to, f32_to_bf16(widened(x_type, from)));
        else
            store(to, cut(widened(x_type, from)));
    }
}

} // namespace nw::ref
