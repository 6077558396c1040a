// SPDX-License-Identifier: MIT
// The row layout that inference engines hold 4-bit weights in, and the decode kernels read:
// weights int32 [N, K/8] and scales [N, K/G], each with a row stride in bytes. The eight nibbles
// of a dword hold, from low to high, k = 0, 2, 4, 6, 1, 3, 5, 7, so that `(dword >> 4p) &
// 0x000f000f` is the pair (2p, 2p + 1) in its natural order.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "base/types.h"

namespace nw {

// k of each nibble of a dword, from low to high.
inline constexpr std::array<u8, 8> nibble_order = {0, 2, 4, 6, 1, 3, 5, 7};

struct RowLayout {
    u32 n = 0; // rows: output features
    u32 k = 0; // input features
    u32 group = 0;
    u64 w_stride = 0; // bytes from one row of weights to the next
    u64 s_stride = 0; // bytes from one row of scales to the next

    // Minimum strides that satisfy the kernels' alignment.
    static RowLayout tight(u32 n, u32 k, u32 group);

    u64 row_bytes() const { return k / 2; }
    u64 scale_row_bytes() const { return u64{2} * (k / group); }
    u64 weight_bytes() const { return n * w_stride; }
    u64 scale_bytes() const { return n * s_stride; }
};

// Throws Error naming the value and the rule it breaks.
void validate(const RowLayout &);

// One row: nibbles.size() == 8 * dwords.size(), each nibble 0..15.
void pack_row(std::span<const u8> nibbles, std::span<u32> dwords);
void unpack_row(std::span<const u32> dwords, std::span<u8> nibbles);

// nibbles [N, K], one per byte, into weight_bytes() bytes; `padding` fills the gaps between rows.
// Throws Error if a size is wrong or a nibble is above 15.
std::vector<u8> pack_rows(std::span<const u8> nibbles, const RowLayout &, u8 padding = 0);
std::vector<u8> unpack_rows(std::span<const u8> packed, const RowLayout &);

// scales [N, K/G], 16 bits each, into scale_bytes() bytes, and back.
std::vector<u8> pack_scales(std::span<const u16> scales, const RowLayout &, u8 padding = 0);
std::vector<u16> unpack_scales(std::span<const u8> packed, const RowLayout &);

} // namespace nw
