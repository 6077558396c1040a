// SPDX-License-Identifier: MIT
// fp8 e4m3 as gfx12 has it: no infinity, 0x7f and 0xff are NaN.
#pragma once
#include "base/types.h"

namespace nw::ref {

f64 from_e4m3(u8 bits);

// To the nearest, halves to even; NaN from 464 on, which the next number, 480, would be nearer to.
u8 to_e4m3(f64 x);

} // namespace nw::ref
