// SPDX-License-Identifier: MIT
// Tables of the suite attention.
#pragma once
#include "base/pattern.h"
#include "bench/result.h"

namespace nw::bench {

// A few queries against a long cache, by attn_decode.
Json attention_decode(const Options &, const std::string &gfx);
// Each launch of block-sparse attention in a layer of a model.
Json attention_stages(const Options &, const std::string &gfx);
// Density, softmax share and needles kept by selection rules.
Json attention_selection(const Options &, const std::string &gfx);
// The time to a first token, from rows of attention_stages, for models with rows of all blocks and
// of selected ones.
Json attention_first_token(const Json &stages, const Shapes &, const std::string &gfx);

} // namespace nw::bench
