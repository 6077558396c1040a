// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "base/types.h"

namespace nw {

// Properties that a checkpoint's quantization config states for all its linears; empty if it states
// several. The tensors take precedence: a claim is used to refuse what contradicts it, and to tell
// the two versions of asymmetric GPTQ apart.
struct Claims {
    std::optional<i64> bits, group; // group: -1 for one scale per row
    std::optional<bool> symmetric;
    bool gptq_v2 = false;
    bool act_order = false; // columns are in groups by a list, which the tensors have
};

Claims claims_of(const nlohmann::json &quantization);

} // namespace nw
