// SPDX-License-Identifier: MIT
// attn_forward on sequences one after the other, as cu_seqlens has them.
#pragma once
#include "check/check.h"

namespace nw::check {

void attn_packed(Test &, const Kernel &);

} // namespace nw::check
