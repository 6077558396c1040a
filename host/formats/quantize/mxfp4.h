// SPDX-License-Identifier: MIT
// OCP's mxfp4: 32 weights share a scale 2^(e - 127) and are e2m1 numbers: 0, 0.5, 1, 1.5, 2, 3, 4,
// 6 and their negatives, codes 0 to 7 and 8 to 15. With m the largest |w|:
//
//     Clip::none  e = floor(log2(m)) + 127 - 2, as OCP's specification: m is 4 to 8 scales
//     Clip::mse   of this e, the one below and the one above: the one with the least squared error
//     code        of the number nearest to w / 2^(e - 127), to the even code if two are; at most 6
//
// e is clamped to 0..252, so that 6 scales are within f32. A block of zeros has e = 0. The code of
// -0 is not used.
#pragma once
#include <array>
#include <span>

#include "base/types.h"
#include "formats/quantize/clip.h"

namespace nw {

struct Mxfp4Block {
    static constexpr u32 elements = 32;
    u8 e;
    std::array<u8, elements> codes;
};

// The value of a code at a scale of 1.
f32 e2m1_value(u8 code);

// w has 32 finite weights.
Mxfp4Block quantize_mxfp4(std::span<const f32> w, Clip);

} // namespace nw
