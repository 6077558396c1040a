// SPDX-License-Identifier: MIT
// f16 activations of WMMA products with GGUF weights: the output of gguf_halves
// (asm/gguf_halves/gguf_halves.s.j2) and the order in which WMMA takes them.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/types.h"
#include "ref/wmma.h"

namespace nw::ref {

// Layout options: 256 k of a row contiguous; the last values at the end of the last 256 k, after
// zeros instead of before them.
struct HalvesForm {
    bool by_row = false, at_end = false;
};

// The output of gguf_halves for x, f32 [m, k]; tiles of 16 rows, at least m. Throws Error if
// k % 8 != 0 or a size is wrong.
std::vector<std::byte> gguf_halves(std::span<const f32> x, u32 m, u32 k, u32 tiles,
                                   HalvesForm form = {});

// With at_end, where in the row of whole 256 k value i of k is.
u32 place_at_end(u32 i, u32 k);

// Offsets in that output.
struct HalvesLayout {
    u64 supers, tiles; // of 256 k, of 16 rows
    bool by_row = false;

    u64 value(u32 row, u32 place) const;      // f16
    u64 sum(u32 row, u64 block) const;        // f16
    u64 fine_sum(u32 row, u64 sixteen) const; // f16, of 16 k
    u64 shift(u32 row) const;                 // i32
    u64 bytes() const;
};

// The k of WMMA `step`, 0 or 1, of a block of 32, in the instruction's order: sixteen neighbours,
// or eight of the first and eight of the second sixteen.
std::array<u32, 16> order_of(WmmaSum, bool sixteens, u32 step);

} // namespace nw::ref
