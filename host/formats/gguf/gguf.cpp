// SPDX-License-Identifier: MIT
#include "formats/gguf/gguf.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

#include "base/error.h"
#include "formats/safetensors/json.h"
#include "formats/safetensors/safetensors.h"

namespace nw {

static_assert(std::endian::native == std::endian::little, "files and kernels' layouts are");

namespace {

constexpr std::string_view magic = "GGUF";
constexpr u64 default_alignment = 32, least_alignment = 8;
constexpr u64 least_entry = 8 + 1 + 4 + 1;      // key, type, value
constexpr u64 least_tensor = 8 + 1 + 4 + 4 + 8; // name, dimensions, type, offset
constexpr u32 most_dimensions = 4;

std::string_view first_bytes(std::span<const std::byte> file, u64 most) {
    return {reinterpret_cast<const char *>(file.data()), std::min<u64>(most, file.size())};
}

// Older versions, and files of the other byte order.
void check_magic(GgufCursor &in, std::span<const std::byte> file, const std::string &path) {
    const std::string_view begin = first_bytes(file, magic.size());
    if (file.size() < magic.size())
        throw Error(
            fmt::format("{}: has {} bytes; a GGUF file begins with \"GGUF\" and its version", path,
                        file.size()));
    if (begin == "FUGG")
        throw Error(path + ": is a big-endian GGUF file; fetch or convert a little-endian file");
    if (begin == "tjgg" || begin == "fmgg" || begin == "lmgg")
        throw Error(path + ": is a GGML file older than GGUF; convert the model again with "
                           "llama.cpp's convert_hf_to_gguf.py");
    if (begin != magic)
        throw Error(fmt::format("{}: begins with {} instead of \"GGUF\": it is not a GGUF file",
                                path, in_quotes(begin)));
    in.take(magic.size(), "its mark");
}

u32 read_version(GgufCursor &in) {
    const u32 version = in.number<u32>("the version");
    if (version == 2 || version == 3)
        return version;
    if (version == 1)
        in.fail("is of GGUF version 1, whose counts have 32 bits; versions 2 and 3 are supported: "
                "convert the model again with llama.cpp's convert_hf_to_gguf.py");
    if (version != 0 && (version & 0xffff) == 0)
        in.fail(fmt::format("is of GGUF version {} with swapped bytes: it is big-endian; fetch or "
                            "convert a little-endian file",
                            __builtin_bswap32(version)));
    in.fail(fmt::format("is of GGUF version {}; 2 and 3 are supported", version));
}

template <class Range, class Name>
void check_unique(const Range &range, Name &&name, std::string_view kind, const std::string &path) {
    std::vector<std::string_view> names;
    names.reserve(range.size());
    for (const auto &item : range)
        names.push_back(name(item));
    std::ranges::sort(names);
    if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
        throw Error(fmt::format("{}: has the {} {} twice", path, kind, in_quotes(*twice)));
}

std::vector<GgufEntry> read_metadata(GgufCursor &in, u64 count) {
    std::vector<GgufEntry> out;
    for (u64 i = 0; i < count; ++i) {
        in.enter("metadata", i);
        const std::string_view key = in.identifier("its key");
        in.call(key);
        const GgufType type = in.type("its type");
        out.push_back({key, in.value(type)});
    }
    return out;
}

u64 alignment_of(const Gguf &file, const std::string &path) {
    const GgufValue *value = file.find("general.alignment");
    if (!value)
        return default_alignment;
    const auto number = unsigned_number(*value);
    if (!number)
        throw Error(fmt::format("{}: general.alignment is of type {}: must be a positive integer",
                                path, name(value->type)));
    if (*number < least_alignment || *number > ~u32{0} || !std::has_single_bit(*number))
        throw Error(fmt::format(
            "{}: general.alignment is {}: must be a power of two, at least {} and below 2^32", path,
            *number, least_alignment));
    return *number;
}

u64 product(const GgufCursor &in, const GgufTensor &t, std::initializer_list<u64> factors) {
    u64 out = 1;
    for (u64 factor : factors)
        if (__builtin_mul_overflow(out, factor, &out))
            in.fail(fmt::format("{} of shape {} has more than 2^64 elements or bytes",
                                type_name(t.type), shape_text(t.shape())));
    return out;
}

// Rows are whole numbers of blocks; row_bytes * rows fits u64 afterwards.
void size_tensor(const GgufCursor &in, GgufTensor &t) {
    const u64 rows = product(in, t, {t.ne[1], t.ne[2], t.ne[3]});
    product(in, t, {t.ne[0], rows});
    const GgmlTypeInfo *type = find_ggml_type(t.type);
    if (!type)
        return;
    if (t.ne[0] % type->elements)
        in.fail(fmt::format("has rows of {} elements; {} has blocks of {}, and a row is a whole "
                            "number of blocks",
                            t.ne[0], type->name, type->elements));
    t.row_bytes = product(in, t, {t.ne[0] / type->elements, type->bytes});
    product(in, t, {t.row_bytes, rows});
}

// The offset is still relative to the start of the data.
GgufTensor read_tensor(GgufCursor &in, u64 index) {
    GgufTensor t{};
    t.ne.fill(1);
    in.enter("tensor", index);
    t.name = in.identifier("its name");
    in.call(t.name);
    t.dimensions = in.number<u32>("the number of its dimensions");
    if (t.dimensions > most_dimensions)
        in.fail(
            fmt::format("has {} dimensions; the format allows {}", t.dimensions, most_dimensions));
    for (u32 i = 0; i < t.dimensions; ++i)
        t.ne[i] = in.number<u64>("its shape");
    t.type = static_cast<GgmlType>(in.number<u32>("its type"));
    t.offset = in.number<u64>("its offset");
    size_tensor(in, t);
    return t;
}

// Bytes owned by the tensor: for an unknown type, at least the first.
u64 extent(const GgufTensor &t) {
    const u64 bytes = t.row_bytes * t.rows();
    return bytes == 0 && !t.known() && t.ne[0] && t.rows() ? 1 : bytes;
}

void place_tensor(GgufTensor &t, std::span<const std::byte> file, u64 data, u64 alignment,
                  const std::string &path) {
    const auto fail = [&](const std::string &why) {
        throw Error(fmt::format("{}: tensor {}: {}", path, in_quotes(t.name), why));
    };
    if (t.offset % alignment)
        fail(fmt::format("lies at {} of the data: must be a multiple of {}, the file's alignment",
                         t.offset, alignment));
    const u64 bytes = extent(t);
    u64 begin, end;
    if (__builtin_add_overflow(data, t.offset, &begin) ||
        __builtin_add_overflow(begin, bytes, &end))
        fail(fmt::format("{} bytes at {} of the data end past 2^64", bytes, t.offset));
    if (bytes && end > file.size())
        fail(fmt::format("takes bytes {} to {}, the file has {}: it is truncated, fetch it again",
                         begin, end, file.size()));
    t.offset = begin;
    if (t.known() && bytes)
        t.data = file.subspan(begin, bytes);
}

void check_overlaps(const std::vector<GgufTensor> &tensors, const std::string &path) {
    std::vector<const GgufTensor *> order;
    order.reserve(tensors.size());
    for (const GgufTensor &t : tensors)
        if (extent(t))
            order.push_back(&t);
    std::ranges::sort(order, {}, &GgufTensor::offset);
    for (size_t i = 1; i < order.size(); ++i)
        if (const u64 end = order[i - 1]->offset + extent(*order[i - 1]); order[i]->offset < end)
            throw Error(fmt::format("{}: tensor {} begins at byte {}, inside {}, which ends at {}",
                                    path, in_quotes(order[i]->name), order[i]->offset,
                                    in_quotes(order[i - 1]->name), end));
}

} // namespace

std::string type_name(GgmlType type) {
    const GgmlTypeInfo *info = find_ggml_type(type);
    return info ? std::string(info->name) : fmt::format("type {}", static_cast<u32>(type));
}

std::span<const std::byte> GgufTensor::bytes() const {
    if (!known())
        throw Error(
            fmt::format("tensor {}: has the unknown ggml type {}; known are 0 (f32) to {} ({})",
                        in_quotes(name), static_cast<u32>(type),
                        static_cast<u32>(ggml_types().back().id), ggml_types().back().name));
    return data;
}

const GgufValue *Gguf::find(std::string_view key) const {
    const auto found = std::ranges::find(metadata, key, &GgufEntry::key);
    return found == metadata.end() ? nullptr : &found->value;
}

bool is_gguf(std::span<const std::byte> file) { return first_bytes(file, magic.size()) == magic; }

Gguf read_gguf(std::span<const std::byte> file, const std::string &path) {
    GgufCursor in(file, path);
    check_magic(in, file, path);
    Gguf out;
    out.version = read_version(in);
    const u64 tensors = in.number<u64>("the number of tensors"),
              entries = in.number<u64>("the number of metadata");
    in.expect(tensors, least_tensor, "tensors");
    in.expect(entries, least_entry, "metadata");
    out.metadata = read_metadata(in, entries);
    check_unique(
        out.metadata, [](const GgufEntry &e) { return e.key; }, "key", path);
    out.alignment = alignment_of(out, path);
    in.enter("tensor", 0);
    in.expect(tensors, least_tensor, "tensors");
    for (u64 i = 0; i < tensors; ++i)
        out.tensors.push_back(read_tensor(in, i));
    check_unique(
        out.tensors, [](const GgufTensor &t) { return t.name; }, "tensor", path);
    const u64 data = round_up(in.position(), out.alignment);
    for (GgufTensor &t : out.tensors)
        place_tensor(t, file, data, out.alignment, path);
    check_overlaps(out.tensors, path);
    return out;
}

} // namespace nw
