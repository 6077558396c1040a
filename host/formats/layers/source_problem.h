// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>

#include "base/error.h"
#include "formats/safetensors/json.h"
#include "formats/safetensors/safetensors.h"

namespace nw {

// Throws Error: the tensor, with dtype and shape, and what is wrong with it.
[[noreturn]] inline void refuse_tensor(const Tensor &t, const std::string &why) {
    throw Error(
        fmt::format("{} ({} {}): {}", in_quotes(t.name), t.dtype, shape_text(t.shape), why));
}

} // namespace nw
