// SPDX-License-Identifier: MIT
#include "formats/gguf/gguf_types.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"

namespace nw {

namespace {

constexpr GgmlTypeInfo row(u32 id, std::string_view name, u32 elements, u32 bytes,
                           bool decoded = false, u16 halves_at = 0, u16 halves = 0) {
    return {static_cast<GgmlType>(id), name, elements, bytes, decoded, halves_at, halves};
}

// Ids that are missing belonged to types that ggml has dropped: 4, 5, 31 to 33, 36 to 38.
// clang-format off
constexpr GgmlTypeInfo types[] = {
    row( 0, "f32",       1,   4, true),
    row( 1, "f16",       1,   2, true),
    row( 2, "q4_0",     32,  18, true, 0, 1),
    row( 3, "q4_1",     32,  20, true, 0, 2),
    row( 6, "q5_0",     32,  22, true, 0, 1),
    row( 7, "q5_1",     32,  24, true, 0, 2),
    row( 8, "q8_0",     32,  34, true, 0, 1),
    row( 9, "q8_1",     32,  36),
    row(10, "q2_K",    256,  84, true, 80, 2),
    row(11, "q3_K",    256, 110, true, 108, 1),
    row(12, "q4_K",    256, 144, true, 0, 2),
    row(13, "q5_K",    256, 176, true, 0, 2),
    row(14, "q6_K",    256, 210, true, 208, 1),
    row(15, "q8_K",    256, 292),
    row(16, "iq2_xxs", 256,  66),
    row(17, "iq2_xs",  256,  74),
    row(18, "iq3_xxs", 256,  98),
    row(19, "iq1_s",   256,  50),
    row(20, "iq4_nl",   32,  18, true, 0, 1),
    row(21, "iq3_s",   256, 110),
    row(22, "iq2_s",   256,  82),
    row(23, "iq4_xs",  256, 136, true, 0, 1),
    row(24, "i8",        1,   1),
    row(25, "i16",       1,   2),
    row(26, "i32",       1,   4),
    row(27, "i64",       1,   8),
    row(28, "f64",       1,   8),
    row(29, "iq1_m",   256,  56),
    row(30, "bf16",      1,   2, true),
    row(34, "tq1_0",   256,  54),
    row(35, "tq2_0",   256,  66),
    row(39, "mxfp4",    32,  17, true),
    row(40, "nvfp4",    64,  36, true),
    row(41, "q1_0",    128,  18),
    row(42, "q2_0",     64,  18),
};
// clang-format on

static_assert(std::ranges::is_sorted(types, {}, &GgmlTypeInfo::id));

} // namespace

std::span<const GgmlTypeInfo> ggml_types() { return types; }

const GgmlTypeInfo *find_ggml_type(GgmlType id) {
    const auto found = std::ranges::lower_bound(types, id, {}, &GgmlTypeInfo::id);
    return found != std::end(types) && found->id == id ? found : nullptr;
}

const GgmlTypeInfo *find_ggml_type(std::string_view name) {
    const auto found = std::ranges::find(types, name, &GgmlTypeInfo::name);
    return found != std::end(types) ? found : nullptr;
}

u64 ggml_row_bytes(std::string_view type, u64 k) {
    const GgmlTypeInfo *info = find_ggml_type(type);
    if (!info)
        throw Error(fmt::format("type = {}: ggml has none of that name", type));
    return k / info->elements * info->bytes;
}

} // namespace nw
