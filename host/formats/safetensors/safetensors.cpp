// SPDX-License-Identifier: MIT
#include "formats/safetensors/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "formats/safetensors/json.h"

namespace nw {

static_assert(std::endian::native == std::endian::little, "safetensors and kernels' layouts are");

namespace {

using Json = nlohmann::json;

constexpr u64 length_bytes = 8;
constexpr u32 header_depth = 3; // {name: {shape: []}}

struct DtypeBits {
    std::string_view dtype;
    u32 bits;
};
constexpr DtypeBits dtypes[] = {
    {"BOOL", 8},        {"U8", 8},          {"I8", 8},      {"F8_E5M2", 8}, {"F8_E4M3", 8},
    {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F8_E8M0", 8}, {"F4", 4},      {"F6_E2M3", 6},
    {"F6_E3M2", 6},     {"I16", 16},        {"U16", 16},    {"F16", 16},    {"BF16", 16},
    {"I32", 32},        {"U32", 32},        {"F32", 32},    {"C64", 64},    {"F64", 64},
    {"I64", 64},        {"U64", 64},
};

// One tensor's range, before the ranges are checked together.
struct Entry {
    Tensor tensor;
    u64 begin, end;
};

u64 unsigned_of(const Json &value, const std::string &what) {
    if (!value.is_number_unsigned())
        throw Error(fmt::format("{}: must be an integer from 0 to 2^64 - 1", what));
    return value.get<u64>();
}

const Json &member(const Json &object, const char *key, const std::string &what) {
    const auto found = object.find(key);
    if (found == object.end())
        throw Error(
            fmt::format("{}: has no \"{}\"; a tensor has dtype, shape, data_offsets", what, key));
    return *found;
}

void check_name(const std::string &name, const std::string &path) {
    if (name.empty() || std::ranges::any_of(name, [](char c) {
            return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
        }))
        throw Error(
            fmt::format("{}: a tensor is called {}: names must be text without control characters",
                        path, in_quotes(name)));
}

Entry entry_of(const std::string &name, const Json &value, const std::string &path) {
    check_name(name, path);
    const std::string what = fmt::format("{}: tensor {}", path, in_quotes(name));
    if (!value.is_object())
        throw Error(what + ": its description is not an object");
    const Json &dtype = member(value, "dtype", what), &shape = member(value, "shape", what),
               &place = member(value, "data_offsets", what);
    if (!dtype.is_string() || !shape.is_array() || !place.is_array() || place.size() != 2)
        throw Error(what +
                    ": dtype must be a string, shape an array, data_offsets an array of two");
    Entry e{{name, dtype.get<std::string>(), {}, {}}, 0, 0};
    for (const Json &size : shape)
        e.tensor.shape.push_back(unsigned_of(size, what + ": a size of its shape"));
    e.begin = unsigned_of(place[0], what + ": data_offsets[0]");
    e.end = unsigned_of(place[1], what + ": data_offsets[1]");
    if (e.begin > e.end)
        throw Error(fmt::format("{}: ends at {}, before it begins at {}", what, e.end, e.begin));
    if (!dtype_bits(e.tensor.dtype))
        return e; // a newer dtype: whoever needs the tensor refuses it
    const u64 bytes = tensor_bytes(what, e.tensor.dtype, e.tensor.shape);
    if (e.end - e.begin != bytes)
        throw Error(fmt::format(
            "{}: {} of shape {} has {} bytes, but data_offsets [{}, {}] give {}", what,
            e.tensor.dtype, shape_text(e.tensor.shape), bytes, e.begin, e.end, e.end - e.begin));
    return e;
}

std::map<std::string, std::string> metadata_of(const Json &value, const std::string &path) {
    std::map<std::string, std::string> out;
    if (!value.is_object())
        throw Error(path + ": __metadata__ is not an object");
    for (const auto &[key, text] : value.items()) {
        if (!text.is_string())
            throw Error(fmt::format("{}: __metadata__ {} is not a string", path, in_quotes(key)));
        out[key] = text.get<std::string>();
    }
    return out;
}

// Sorted by offset, each tensor must begin where the previous one ended.
void check_places(const std::vector<Entry> &entries, u64 data_bytes, const std::string &path) {
    u64 at = 0;
    const std::string *last = nullptr;
    for (const Entry &e : entries) {
        if (e.begin != at)
            throw Error(fmt::format("{}: tensor {} begins at {}, {} where {}{}", path,
                                    in_quotes(e.tensor.name), e.begin,
                                    e.begin < at ? "inside another: must not begin before"
                                                 : "after a gap: must begin at",
                                    at, last ? " ends " + in_quotes(*last) : ""));
        if (e.end > data_bytes)
            throw Error(fmt::format("{}: tensor {} ends at {}, past the {} bytes of data; the file "
                                    "is truncated, fetch it again",
                                    path, in_quotes(e.tensor.name), e.end, data_bytes));
        at = e.end;
        last = &e.tensor.name;
    }
    if (at != data_bytes)
        throw Error(
            fmt::format("{}: has {} bytes of data, its tensors take {}", path, data_bytes, at));
}

std::string_view header_of(std::span<const std::byte> file, const std::string &path) {
    if (file.size() < length_bytes)
        throw Error(fmt::format("{}: has {} bytes; a safetensors file begins with 8 bytes of "
                                "header length",
                                path, file.size()));
    u64 length;
    std::memcpy(&length, file.data(), length_bytes);
    if (length > safetensors_header_limit)
        throw Error(fmt::format(
            "{}: declares a header of {} bytes; the format allows {}: it is not a safetensors file",
            path, length, safetensors_header_limit));
    if (length > file.size() - length_bytes)
        throw Error(fmt::format("{}: declares a header of {} bytes, the file has {} in all: it is "
                                "truncated, fetch it again",
                                path, length, file.size()));
    const std::string_view text(reinterpret_cast<const char *>(file.data()) + length_bytes, length);
    if (!text.starts_with('{'))
        throw Error(fmt::format("{}: the header does not begin with '{{'", path));
    return text;
}

} // namespace

std::optional<u32> dtype_bits(std::string_view dtype) {
    const auto found = std::ranges::find(dtypes, dtype, &DtypeBits::dtype);
    return found == std::end(dtypes) ? std::nullopt : std::optional(found->bits);
}

std::string shape_text(std::span<const u64> shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

u64 tensor_bytes(const std::string &what, std::string_view dtype, std::span<const u64> shape) {
    const auto bits = dtype_bits(dtype);
    if (!bits)
        throw Error(
            fmt::format("{}: has the dtype {}, which is not known here", what, in_quotes(dtype)));
    u64 total = *bits;
    for (u64 size : shape)
        if (__builtin_mul_overflow(total, size, &total))
            throw Error(
                fmt::format("{}: shape {} has more than 2^64 bits", what, shape_text(shape)));
    if (total % 8)
        throw Error(fmt::format("{}: {} of shape {} is not a whole number of bytes", what, dtype,
                                shape_text(shape)));
    return total / 8;
}

Safetensors read_safetensors(std::span<const std::byte> file, const std::string &path) {
    const std::string_view text = header_of(file, path);
    const Json header = parse_json(text, path + ": header", header_depth);
    Safetensors out;
    std::vector<Entry> entries;
    for (const auto &[name, value] : header.items()) {
        if (name == "__metadata__")
            out.metadata = metadata_of(value, path);
        else
            entries.push_back(entry_of(name, value, path));
    }
    std::ranges::sort(entries, [](const Entry &a, const Entry &b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    const std::span<const std::byte> data = file.subspan(length_bytes + text.size());
    check_places(entries, data.size(), path);
    for (Entry &e : entries) {
        e.tensor.bytes = data.subspan(e.begin, e.end - e.begin);
        out.tensors.push_back(std::move(e.tensor));
    }
    return out;
}

} // namespace nw
