// SPDX-License-Identifier: MIT
// DOT2 on silicon, as published with AMD's rocjitsu (W7900, R9700): what the models of steps.h must
// give. A selection that distinguishes models: cancellation, cut-off terms, subnormals, precedence
// of NaN.
#pragma once
#include <span>

#include "isa/random/soft.h"

namespace nw::oracle {

struct Capture {
    u32 a, b, c; // two factors in each of a and b; c is an f32
    u32 gfx1100, gfx1201;
};

std::span<const Capture> captures(const Format &factors); // f16 or bf16

u64 wrong_captures(); // mismatches of the model; each is printed on stdout

} // namespace nw::oracle
