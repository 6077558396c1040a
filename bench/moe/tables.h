// SPDX-License-Identifier: MIT
// Shared by the two tables of the suite moe.
#pragma once
#include <set>

#include "base/pattern.h"
#include "bench/data.h"
#include "bench/product.h"
#include "bench/result.h"
#include "check/ops.h"

namespace nw::bench {

// A launch over the experts of a layer.
struct MoeJob {
    LinearShape shape;
    Dtype dtype;
    u32 group, tokens, block_size;
    bool silu;

    u32 slots() const { return tokens * shape.top_k; }
    bool up() const { return shape.layer == "gate_up"; }
    // The second product of an expert reads what the first one wrote, a row a slot.
    u32 slots_per_row() const { return up() ? shape.top_k : 1; }
    u32 rows() const { return ceil_div(slots(), slots_per_row()); }
    u32 columns() const { return silu ? shape.n / 2 : shape.n; }
    std::string name() const; // "MODEL LAYER NxK g128 bf16 t4 b4"
};

Json to_json(const MoeJob &, const Kernel &, const DrawnTime &);
// Arguments for contiguous experts of this layout, without pointers, experts and blocks.
MoeW4A16 arguments(const MoeJob &, const RowLayout &);
// The kernel that the library chooses for such blocks.
const Kernel &choose_moe(std::string_view gfx, const MoeJob &);

// Times 64 tokens and more on any device, with arbitrary values: prints a row for each name that
// --only matches.
Json moe_prefill(const Options &, const Shapes &, const hip::Device &);

} // namespace nw::bench
