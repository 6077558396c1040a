// SPDX-License-Identifier: MIT
// Unaligned numbers in the bytes of a file.
#pragma once
#include <cstring>
#include <span>
#include <string_view>

#include "base/half.h"

namespace nw {

// Element `index` of an array of numbers or blocks.
template <class T> T load(const std::byte *bytes, u64 index = 0) {
    T value;
    std::memcpy(&value, bytes + index * sizeof(T), sizeof value);
    return value;
}
template <class T> T load(std::span<const std::byte> bytes, u64 index) {
    return load<T>(bytes.data(), index);
}

inline u32 nibble(u32 word, u32 index) { return word >> 4 * index & 15; }

// A number of the safetensors dtype F16, BF16 or F32.
inline f32 load_real(std::string_view dtype, std::span<const std::byte> bytes, u64 index) {
    if (dtype == "F16")
        return f16_to_f32(load<u16>(bytes, index));
    if (dtype == "BF16")
        return bf16_to_f32(load<u16>(bytes, index));
    return load<f32>(bytes, index);
}

} // namespace nw
