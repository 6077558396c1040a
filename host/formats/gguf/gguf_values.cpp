// SPDX-License-Identifier: MIT
#include "formats/gguf/gguf_values.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "base/error.h"
#include "formats/safetensors/json.h"

namespace nw {

namespace {

struct TypeRow {
    std::string_view name;
    u32 bytes; // of a value; of a text or an array: at least
    bool fixed = true;
};
constexpr u32 text_bytes = 8, array_bytes = 12; // their lengths

// By the type's number in the file.
constexpr TypeRow types[] = {
    {"u8", 1},
    {"i8", 1},
    {"u16", 2},
    {"i16", 2},
    {"u32", 4},
    {"i32", 4},
    {"f32", 4},
    {"bool", 1},
    {"string", text_bytes, false},
    {"array", array_bytes, false},
    {"u64", 8},
    {"i64", 8},
    {"f64", 8},
};
static_assert(std::size(types) == gguf_value_types);

const TypeRow &row(GgufType type) { return types[static_cast<u32>(type)]; }

bool control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// An integer as 64 bits, and whether it is below zero.
struct Integer {
    u64 bits;
    bool negative;
};

template <class T> Integer integer_of(const GgufValue &value) {
    const T number = load<T>(value.bytes, 0);
    return {static_cast<u64>(number), std::is_signed_v<T> && number < T{}};
}

std::optional<Integer> integer(const GgufValue &value) {
    switch (value.type) {
    case GgufType::u8:
        return integer_of<u8>(value);
    case GgufType::i8:
        return integer_of<i8>(value);
    case GgufType::u16:
        return integer_of<u16>(value);
    case GgufType::i16:
        return integer_of<i16>(value);
    case GgufType::u32:
        return integer_of<u32>(value);
    case GgufType::i32:
        return integer_of<i32>(value);
    case GgufType::u64:
        return integer_of<u64>(value);
    case GgufType::i64:
        return integer_of<i64>(value);
    default:
        return std::nullopt;
    }
}

} // namespace

std::string_view name(GgufType type) { return row(type).name; }

std::string_view text(const GgufValue &string) {
    return {reinterpret_cast<const char *>(string.bytes.data()), string.bytes.size()};
}

bool truth(const GgufValue &boolean) { return load<u8>(boolean.bytes, 0) != 0; }

f64 real(const GgufValue &value) {
    return value.type == GgufType::f32 ? load<f32>(value.bytes, 0) : load<f64>(value.bytes, 0);
}

std::optional<u64> unsigned_number(const GgufValue &value) {
    const auto i = integer(value);
    return i && !i->negative ? std::optional(i->bits) : std::nullopt;
}

std::optional<i64> signed_number(const GgufValue &value) {
    const auto i = integer(value);
    return i && (i->negative || i->bits >> 63 == 0) ? std::optional(static_cast<i64>(i->bits))
                                                    : std::nullopt;
}

std::vector<GgufValue> elements(const GgufValue &array, u64 most) {
    GgufCursor cursor(array.bytes, "an array");
    std::vector<GgufValue> out(std::min(array.count, most));
    for (GgufValue &value : out)
        value = cursor.value(array.element);
    return out;
}

std::string GgufCursor::place() const {
    if (!index_)
        return fmt::format("{}: {}", path_, kind_);
    if (name_.empty())
        return fmt::format("{}: {} {}", path_, kind_, *index_);
    return fmt::format("{}: {} {}", path_, kind_, in_quotes(name_));
}

void GgufCursor::fail(std::string_view why) const {
    throw Error(fmt::format("{}: {}", place(), why));
}

std::span<const std::byte> GgufCursor::take(u64 bytes, std::string_view part) {
    if (bytes > left())
        fail(fmt::format("{} has {} bytes from byte {} on, the file has {} in all: it is "
                         "truncated, fetch it again",
                         part, bytes, position_, file_.size()));
    const auto taken = file_.subspan(position_, bytes);
    position_ += bytes;
    return taken;
}

void GgufCursor::expect(u64 count, u64 least, std::string_view things) const {
    if (count > left() / least)
        fail(fmt::format("declares {} {} of at least {} bytes each, but {} bytes of the file are "
                         "left: it is truncated or damaged, fetch it again",
                         count, things, least, left()));
}

std::string_view GgufCursor::string(std::string_view part) {
    const u64 length = number<u64>(part);
    const auto bytes = take(length, part);
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

std::string_view GgufCursor::identifier(std::string_view part) {
    const std::string_view name = string(part);
    if (name.empty() || std::ranges::any_of(name, control))
        fail(fmt::format("is called {}: names must be text without control characters",
                         in_quotes(name)));
    return name;
}

GgufType GgufCursor::type(std::string_view part) {
    const u32 type = number<u32>(part);
    if (type >= gguf_value_types)
        fail(fmt::format("{} is {}; the format has 0 to {}", part, type, gguf_value_types - 1));
    return static_cast<GgufType>(type);
}

GgufValue GgufCursor::value(GgufType type, u32 depth) {
    if (type == GgufType::array)
        return array(depth);
    GgufValue out{type};
    if (type == GgufType::string) {
        out.bytes = std::as_bytes(std::span(string("its text")));
    } else {
        out.bytes = take(row(type).bytes, "its value");
        if (type == GgufType::boolean && load<u8>(out.bytes, 0) > 1)
            fail(fmt::format("is a bool of {}: must be 0 or 1", load<u8>(out.bytes, 0)));
    }
    return out;
}

GgufValue GgufCursor::array(u32 depth) {
    if (depth == gguf_deepest)
        fail(fmt::format("nests arrays deeper than {} levels", gguf_deepest));
    GgufValue out{GgufType::array};
    out.element = type("the type of its elements");
    out.count = number<u64>("the number of its elements");
    const TypeRow &element = row(out.element);
    expect(out.count, element.bytes, "elements");
    const u64 begin = position_;
    if (element.fixed && out.element != GgufType::boolean)
        take(out.count * element.bytes, "its elements");
    else
        for (u64 i = 0; i < out.count; ++i)
            value(out.element, depth + 1);
    out.bytes = file_.subspan(begin, position_ - begin);
    return out;
}

} // namespace nw
