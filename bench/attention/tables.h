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
// What rules of selection keep.
Json attention_selection(const Options &, const std::string &gfx);
// The time to a first token, from rows of attention_stages: where they have a model with all its
// blocks and with those that are selected.
Json attention_first_token(const Json &stages, const Shapes &, const std::string &gfx);

} // namespace nw::bench
