// SPDX-License-Identifier: MIT
// Types of GGUF weights in the C API (nibblewave.h).
#include <algorithm>
#include <string>

#include "capi/gguf_types.h"
#include "formats/gguf/gguf_types.h"
#include "runtime/w4a16.h"
#include "runtime/words.h"

namespace nw::api {

u64 gguf_type_of(i32 type) {
    const GgmlTypeInfo *info = find_ggml_type(static_cast<GgmlType>(type));
    if (info && std::ranges::find(gguf_types, info->name) != gguf_types.end())
        return find_word(info->name);
    if (type == NW_GGUF_F32 || type == NW_GGUF_F16 || type == NW_GGUF_BF16)
        throw Refusal(NW_UNSUPPORTED,
                      fmt::format("type = {}: f32, f16 and bf16 weights are not quantized: take a "
                                  "BLAS (hipBLAS) for such tensors",
                                  type));
    std::string known;
    for (const std::string_view name : gguf_types)
        known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", name,
                             static_cast<u32>(find_ggml_type(name)->id));
    throw Refusal(NW_UNSUPPORTED,
                  fmt::format("type = {}{}: there are kernels for {}; requantize such tensors, or "
                              "keep them with the backend that you have",
                              type, info ? fmt::format(", {}", info->name) : "", known));
}

u64 third_type_of(i32 type3, i32 type) {
    return type3 == 0 || type3 == type ? word("same") : gguf_type_of(type3);
}

u64 row_type_of(i32 type) {
    switch (type) {
    case NW_GGUF_F32:
        return word("f32");
    case NW_GGUF_F16:
        return word("f16");
    case NW_GGUF_BF16:
        return word("bf16");
    case NW_GGUF_I32:
        return word("i32");
    default:
        return gguf_type_of(type);
    }
}

} // namespace nw::api

using namespace nw;

extern "C" {

uint64_t nw_gguf_row_bytes(int32_t type, uint32_t k) {
    uint64_t bytes = 0;
    static_cast<void>(api::guarded([&] {
        Op op{.kind = OpKind::linear_gguf};
        op.type = api::gguf_type_of(type);
        op.m = op.n = 1;
        op.k = k;
        api::meaning(NW_INVALID_ARGUMENT, [&] { check_shape(op); });
        bytes = ggml_row_bytes(words[op.type], k);
    }));
    return bytes;
}
}
