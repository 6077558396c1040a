// SPDX-License-Identifier: MIT
// The carrier_w4a16 family, word by word: the scale in the lower half; in the upper one -z * s in
// f16, in bf16 z, a whole number.
#pragma once
#include "base/types.h"

namespace nw::ref {

u32 carrier(Dtype, u16 s, u32 z);

} // namespace nw::ref
