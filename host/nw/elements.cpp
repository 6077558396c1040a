// SPDX-License-Identifier: MIT
#include "nw/elements.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "base/half.h"

namespace nw::cli {

namespace {

constexpr ElementType types[] = {
    {"u8", 1, false, false, "u1"},  {"i8", 1, true, false, "i1"},   {"u16", 2, false, false, "u2"},
    {"i16", 2, true, false, "i2"},  {"u32", 4, false, false, "u4"}, {"i32", 4, true, false, "i4"},
    {"u64", 8, false, false, "u8"}, {"i64", 8, true, false, "i8"},  {"f16", 2, true, true, "f2"},
    {"bf16", 2, true, true, ""},    {"f32", 4, true, true, "f4"},   {"f64", 8, true, true, "f8"},
};

u64 bits_at(const ElementType &type, const std::byte *at) {
    u64 bits = 0;
    std::memcpy(&bits, at, type.bytes);
    return bits;
}

// Of 16 or 32 bits.
f32 narrow_real(const ElementType &type, u64 bits) {
    if (type.bytes == 4)
        return std::bit_cast<f32>(static_cast<u32>(bits));
    return type.name == "f16" ? f16_to_f32(static_cast<u16>(bits))
                              : bf16_to_f32(static_cast<u16>(bits));
}

i64 sign_extended(const ElementType &type, u64 bits) {
    const u32 shift = 64 - 8 * type.bytes;
    return static_cast<i64>(bits << shift) >> shift;
}

} // namespace

std::span<const ElementType> element_types() { return types; }

const ElementType *find_element_type(std::string_view name) {
    const auto at = std::ranges::find(types, name, &ElementType::name);
    return at == std::end(types) ? nullptr : at;
}

std::string element_type_names(u32 bytes) {
    std::string list;
    for (const ElementType &type : types)
        if (bytes == 0 || type.bytes == bytes)
            list += fmt::format("{}{}", list.empty() ? "" : ", ", type.name);
    return list;
}

f64 element_value(const ElementType &type, const std::byte *at) {
    const u64 bits = bits_at(type, at);
    if (type.real)
        return type.bytes == 8 ? std::bit_cast<f64>(bits) : f64{narrow_real(type, bits)};
    return type.is_signed ? static_cast<f64>(sign_extended(type, bits)) : static_cast<f64>(bits);
}

std::string element_text(const ElementType &type, const std::byte *at) {
    const u64 bits = bits_at(type, at);
    if (type.real && type.bytes == 8)
        return fmt::format("{}", std::bit_cast<f64>(bits));
    if (type.real)
        return fmt::format("{}", narrow_real(type, bits));
    return type.is_signed ? fmt::format("{}", sign_extended(type, bits)) : fmt::format("{}", bits);
}

} // namespace nw::cli
