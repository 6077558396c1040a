// SPDX-License-Identifier: MIT
// Walks through memory: a permutation of lines of which each names the next.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace nw::micro {

inline constexpr u32 line_bytes = 128;
inline constexpr u64 smallest_chase = 4096, largest_chase = 256ull << 20; // powers of two

// next[i] is the line after line i; all lines form one cycle. lines >= 1.
std::vector<u32> next_lines(u32 lines, u64 seed);

// "chase vector, 64 KiB"; path as the kernel's parameter has it.
std::string chase_name(std::string_view path, u64 bytes);

} // namespace nw::micro
