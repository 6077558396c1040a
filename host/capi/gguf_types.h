// SPDX-License-Identifier: MIT
#pragma once
#include "capi/context.h"

namespace nw::api {

// The word of a type by ggml's number; throws Refusal for one without kernels.
u64 gguf_type_of(i32 type);

// The same of a third matrix beside others of `type`: "same" for that type, and for 0.
u64 third_type_of(i32 type3, i32 type);

// The same of rows that are gathered or scattered, which may also be of f32, f16, bf16 or i32.
u64 row_type_of(i32 type);

} // namespace nw::api
