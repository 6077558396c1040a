// SPDX-License-Identifier: MIT
#pragma once
#include "capi/context.h"

namespace nw::api {

// The word of a type by ggml's number; throws Refusal for one without kernels.
u64 gguf_type_of(i32 type);

} // namespace nw::api
