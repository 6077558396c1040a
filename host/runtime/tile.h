// SPDX-License-Identifier: MIT
// Which kernel of prefill_w4a16 and mid_w4a16, which is to say which tile, a product of many rows
// gets: the one that NIBBLEWAVE_FORCE names, else that of the nearest tuned shape for as many rows
// or up to twice as many (gen/tuning/<gfx>.toml, family prefill_w4a16), else by a rule of thumb.
// What was tuned for groups of 128 goes for other groups, and for other forms of zero points and
// the other type where these were not tuned: the same tile, if there is one.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "runtime/choice.h"

namespace nw {

// The most rows of A that mid_w4a16 is chosen for where nothing was tuned. It has no carriers.
inline constexpr u32 mid_rows = 64;

// Of the rows of gen/tuning, mid_w4a16's tiles among them.
inline constexpr std::string_view tile_family = "prefill_w4a16";

bool is_mid(const Kernel &);

// Whether the kernel is one of these families for such products.
bool fits(const Kernel &, std::string_view gfx, Dtype, u32 group, Zeros);

// "bf16 g128 zp"
std::string tile_label(Dtype, u32 group, Zeros);

// For m x k activations and n rows of weights. Throws Error listing what there is, or where
// NIBBLEWAVE_FORCE names a kernel that does not fit.
Choice explain_prefill(std::string_view gfx, Dtype, u32 group, Zeros, u32 m, u32 n, u32 k);
const Kernel &choose_prefill(std::string_view gfx, Dtype, u32 group, Zeros, u32 m, u32 n, u32 k);

// By the rule of thumb, whatever was tuned or forced: of these, or of all that there are.
const Kernel &best_tile(std::span<const Kernel *const>, u32 m, u32 n);
const Kernel &default_tile(std::string_view gfx, Dtype, u32 group, Zeros, u32 m, u32 n);

} // namespace nw
