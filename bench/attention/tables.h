// SPDX-License-Identifier: MIT
// Tables of the suite attention.
#pragma once
#include "bench/options.h"
#include "bench/table.h"

namespace nw::bench {

// A few queries against a long cache, by attn_decode.
Json attention_decode(const Options &, const std::string &gfx);

} // namespace nw::bench
