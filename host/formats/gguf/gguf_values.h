// SPDX-License-Identifier: MIT
// Values of GGUF metadata, as views into the file.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/files/words.h"

namespace nw {

// clang-format off
enum class GgufType : u32 {
    u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64
};
// clang-format on
inline constexpr u32 gguf_value_types = 13;

std::string_view name(GgufType);

inline constexpr u32 gguf_deepest = 8; // levels of arrays in arrays

struct GgufValue {
    GgufType type;
    GgufType element{}; // of an array
    u64 count = 0;      // of an array's elements
    // A number's or a text's; an array's elements as in the file, texts with their lengths.
    std::span<const std::byte> bytes{};
};

std::string_view text(const GgufValue &string);
bool truth(const GgufValue &boolean);
f64 real(const GgufValue &); // of f32 and f64
// Value of any integer type; empty if it does not fit.
std::optional<u64> unsigned_number(const GgufValue &);
std::optional<i64> signed_number(const GgufValue &);

// The first elements of an array, at most `most`.
std::vector<GgufValue> elements(const GgufValue &array, u64 most);

// A cursor over the bytes of a file. Every read is bounds-checked and throws an Error that names
// path, place and part.
class GgufCursor {
public:
    GgufCursor(std::span<const std::byte> file, std::string_view path) : file_(file), path_(path) {}

    // Name of the object in the next bytes: "tensor 3", with its name once known.
    void enter(std::string_view kind, u64 index) { kind_ = kind, index_ = index, name_ = {}; }
    void call(std::string_view name) { name_ = name; }

    template <class T> T number(std::string_view part) { return load<T>(take(sizeof(T), part), 0); }
    std::string_view string(std::string_view part); // its length, its bytes
    std::string_view identifier(std::string_view part);
    GgufValue value(GgufType, u32 depth = 0);
    GgufType type(std::string_view part);
    std::span<const std::byte> take(u64 bytes, std::string_view part);
    // Checks that `count` items of at least `least` bytes fit, before memory is reserved for them.
    void expect(u64 count, u64 least, std::string_view things) const;

    u64 position() const { return position_; }
    std::string place() const; // path: tensor "name"
    [[noreturn]] void fail(std::string_view why) const;

private:
    GgufValue array(u32 depth);
    u64 left() const { return file_.size() - position_; }

    std::span<const std::byte> file_;
    std::string_view path_, kind_ = "the header", name_;
    std::optional<u64> index_;
    u64 position_ = 0;
};

} // namespace nw
