// SPDX-License-Identifier: MIT
// ggml's tensor types: a row is a sequence of blocks of one size.
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "base/types.h"

namespace nw {

// Ids of the types that are used by name here. A file may contain others.
enum class GgmlType : u32 {
    f32 = 0,
    f16 = 1,
    q4_0 = 2,
    q4_1 = 3,
    q5_0 = 6,
    q5_1 = 7,
    q8_0 = 8,
    q2_K = 10,
    q3_K = 11,
    q4_K = 12,
    q5_K = 13,
    q6_K = 14,
    iq4_nl = 20,
    iq4_xs = 23,
    bf16 = 30,
    mxfp4 = 39,
    nvfp4 = 40,
};

struct GgmlTypeInfo {
    GgmlType id;
    std::string_view name; // ggml's own
    u32 elements, bytes;   // of a block
    bool decoded;          // ref::dequantize_row has its formula
    u16 halves_at, halves; // of those: where in a block its f16 scales are, the minima's last
};

std::span<const GgmlTypeInfo> ggml_types(); // by id
const GgmlTypeInfo *find_ggml_type(GgmlType id);
const GgmlTypeInfo *find_ggml_type(std::string_view name);

// Bytes of a row of k weights, which are whole blocks; throws Error for a type that ggml has not.
u64 ggml_row_bytes(std::string_view type, u64 k);

} // namespace nw
