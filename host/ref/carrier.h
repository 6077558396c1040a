// SPDX-License-Identifier: MIT
// The carrier_w4a16 family, word by word: the scale in the low half; in the high half -z * s (f16)
// or z as an integer (bf16).
#pragma once
#include "base/types.h"

namespace nw::ref {

u32 carrier(Dtype, u16 s, u32 z);

} // namespace nw::ref
