// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "base/types.h"

namespace nw {

// What a checkpoint's quantization config says of all its linears; nothing where it says several
// things. Data is believed first: a claim serves to refuse what contradicts it, and to read
// asymmetric GPTQ, whose two versions look alike.
struct Claims {
    std::optional<i64> bits, group; // group: -1 for one scale a row
    std::optional<bool> symmetric;
    bool gptq_v2 = false;
};

Claims claims_of(const nlohmann::json &quantization);

} // namespace nw
