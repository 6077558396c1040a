// SPDX-License-Identifier: MIT
// Helpers shared by the tests of products with GGUF weights.
#pragma once
#include <cstddef>
#include <source_location>
#include <span>
#include <string_view>
#include <vector>

#include "check/check.h"
#include "formats/gguf/gguf_types.h"

namespace nw::check {

// f32 of all sizes, signs and shapes: blocks of 32 of nothing, of one value, of quotients by a
// 127th of the greatest halfway between two numbers and right beside them.
std::vector<f32> gguf_activations(Rng &, u64 count);

// The rows of f32 that are hardest on ranges, k values each: see the .cpp.
struct HardRow {
    const char *what;
    std::vector<f32> x;
};
std::vector<HardRow> hard_activations(u32 k);
// m rows: the hard rows repeated.
std::vector<f32> hard_rows(u32 m, u32 k);

// A weight type of the reader, and the offsets of its f16 scales in a block.
struct GgufType {
    GgmlTypeInfo info;
    std::vector<u32> scales;
};
GgufType gguf_type(const Kernel &);
GgufType gguf_type(std::string_view name);

// `count` blocks: any quants, f16 scales as models have them, now and then subnormal or negative.
std::vector<std::byte> gguf_random_blocks(Rng &, const GgufType &, u64 count);
// The same with scales so small that products with hard_activations are finite.
std::vector<std::byte> gguf_small_blocks(Rng &, const GgufType &, u64 count);

// The expert of a block or slot: one of these, now and then none.
i32 any_expert(Rng &, u32 experts);
// `places` places with slots in random order; some places are empty, some slots have no place.
std::vector<i32> shuffled_slots(Rng &, u32 slots, u32 places);

// Fails unless the region's bits are those wanted, any NaN where NaN is, and its guards clean.
void same_bits(Test &, const char *name, const Region &, std::span<const f32> want,
               std::source_location where);

// Fails unless want is within tolerance of exact.
void near_exact(Test &, std::span<const f32> want, std::span<const f64> exact,
                std::span<const f64> tolerance, std::source_location where);

// For each result the sum of |x| * (both parts of |w|).
std::vector<f64> product_sizes(const GgufType &, u32 m, u32 n, u32 k, std::span<const f32> x,
                               std::span<const std::byte> w);

// Fails unless each of got is finite, and within tolerance and f32's roundings of exact.
void in_range(Test &, std::span<const f32> got, std::span<const f64> exact,
              std::span<const f64> tolerance, std::span<const f64> size,
              std::source_location where);

struct GgufShape {
    u32 m, n, k;
};

// Random activations and weights of a dense product, some of them then set.
class GgufOperands {
public:
    GgufOperands(Test &t, const Kernel &kernel, const GgufShape &);

    // Hard rows, again and again, and weights for them.
    void make_hard(Test &t);
    // Scale `which` of a block of a row of w.
    void set_scale(u32 row, u32 block, u32 which, u16 bits);
    f32 &activation(u32 row, u32 k) { return x_[u64{row} * s_.k + k]; }
    u32 scales() const { return static_cast<u32>(type_.scales.size()); }

protected:
    GgufShape s_;
    std::vector<f32> x_;
    GgufType type_;
    std::vector<std::byte> w_;
};

} // namespace nw::check
