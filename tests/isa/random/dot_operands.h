// SPDX-License-Identifier: MIT
// Terms of dot products that meet: equal and opposite products, sums that cancel against the
// addend or lie halfway between results, exponents far apart, subnormals, the ends of the range.
#pragma once
#include <functional>
#include <span>

#include "isa/random/operands.h"
#include "isa/random/steps.h"

namespace nw::oracle {

// Formats of factors: their bits and values.
struct FactorFormat {
    Format format; // e4m3 as if it had infinities: its largest codes are two numbers and a NaN
    std::function<Factor(u64)> factor;
};

// Fills both sides; they are of the same length.
void meeting_factors(const FactorFormat &a_format, const FactorFormat &b_format, std::span<u64> a,
                     std::span<u64> b, Random &);

// A value with a similar exponent, or zero.
u64 tame_factor(const Format &, Random &);

// An addend near minus the sum of the products, or above or below it where the grids end.
u64 meeting_addend(const FactorFormat &a_format, const FactorFormat &b_format,
                   std::span<const u64> a, std::span<const u64> b, const Format &out, Random &,
                   bool tame = false);

} // namespace nw::oracle
