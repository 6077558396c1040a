// SPDX-License-Identifier: MIT
// One step of a dot product as 2.49 to 2.52 have it: products and addend on a grid, cut off, added
// exactly, rounded once. DOT2 is one step, WMMA a chain of them.
#pragma once
#include <span>

#include "isa/random/soft.h"

namespace nw::oracle {

// magnitude * 2^exponent, or no number. A zero has magnitude 0.
struct Factor {
    bool nan = false, inf = false, negative = false;
    u64 magnitude = 0;
    int exponent = 0;
    int field = 0; // e(x) of 2.49: the exponent that the format stores

    bool zero() const { return !nan && !inf && magnitude == 0; }
};

Factor factor(const Format &, u64 bits, bool flush_subnormal = false);
Factor factor_fp8(u32 code); // e4m3: no infinity, one NaN of each sign
Factor factor_bf8(u32 code); // e5m2

struct StepRules {
    bool gfx12;
    Format out;                // of the addend and the result
    u64 factor_nan;            // the result for a NaN factor
    bool saturate_f16 = false; // FP16_OVFL
};
u64 factor_nan(const Format &out); // of f16 and bf16 factors

// gfx11: two products. gfx12: pairs of them. `c` and the result are bits of `out`.
u64 step(std::span<const Factor> a, std::span<const Factor> b, u64 c, const StepRules &);

} // namespace nw::oracle
