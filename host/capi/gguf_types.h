// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

#include "base/types.h"

namespace nw::api {

// ggml's name of a number of nibblewave.h. Throws Refusal for a type without kernels.
std::string_view gguf_type_of(i32 type);

} // namespace nw::api
