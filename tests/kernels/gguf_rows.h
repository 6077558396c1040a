// SPDX-License-Identifier: MIT
// The rows that a product with GGUF weights converts itself, in each of the forms that it takes.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "check/check.h"

namespace nw::check {

// tiles: quantize_q8's; plain: f32; normed: f32 that are divided by their root mean square first.
enum class GgufRows { tiles, plain, normed };
// Order of tiles in memory: a row's one after the other, or all rows' of a step (asm/quantize_q8).
enum class TileOrder { rows, steps };

// m rows of k f32, and the int8 tiles that a kernel makes of them, to the bit: those of `normed`
// stay the same under errors of 2^-19 of the root.
class GgufInput {
public:
    GgufInput(Test &, GgufRows, std::vector<f32> x, u32 m, u32 k, TileOrder = TileOrder::rows);

    // The tiles of a row.
    std::span<const std::byte> tiles(u32 row) const;
    // Tiles of all rows, step by step.
    std::vector<std::byte> tiles_by_step() const;
    u32 rows() const { return m_; }
    void put(Op &) const;
    void unchanged(Test &, std::source_location) const;

private:
    void make_normed(Rng &);

    GgufRows form_;
    u32 m_, k_;
    std::vector<f32> x_, norm_;
    std::vector<std::byte> tiles_;
    std::optional<Region> x_memory_, norm_memory_, a_memory_;
};

} // namespace nw::check
