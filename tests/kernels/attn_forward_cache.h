// SPDX-License-Identifier: MIT
// attn_forward to keys and values in a cache.
#pragma once
#include "check/check.h"

namespace nw::check {

void attn_forward_cache(Test &, const Kernel &);

} // namespace nw::check
