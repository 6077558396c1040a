// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>

namespace nw {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using f32 = float;
using f64 = double;

// Element type of activations, scales and outputs.
enum class Dtype : u8 { bf16, f16 };

template <class T> constexpr T ceil_div(T a, T b) { return (a + b - 1) / b; }
template <class T> constexpr T round_up(T a, T b) { return ceil_div(a, b) * b; }

} // namespace nw
