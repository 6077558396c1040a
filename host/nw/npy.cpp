// SPDX-License-Identifier: MIT
// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include "nw/npy.h"

#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <regex>

#include "base/error.h"
#include "nw/code_object.h"

namespace nw::cli {

namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";

struct NpyHeader {
    std::string text; // of a Python dict
    size_t end = 0;   // where the elements begin
};

NpyHeader npy_header(const std::string &path, const std::string &file) {
    if (!file.starts_with(npy_magic) || file.size() < 12)
        throw Error(fmt::format("{}: is not an .npy file: write it with numpy.save", path));
    const u8 version = static_cast<u8>(file[6]);
    const size_t field = version == 1 ? 2 : 4;
    u32 length = 0;
    std::memcpy(&length, file.data() + 8, field);
    const size_t end = 8 + field + length;
    if (version < 1 || version > 3 || end > file.size())
        throw Error(
            fmt::format("{}: its header is {}: write it with numpy.save", path,
                        version < 1 || version > 3 ? "of an unknown version" : "not whole"));
    return {file.substr(8 + field, length), end};
}

const ElementType &npy_type(const std::string &path, const std::string &header) {
    std::smatch found;
    if (!std::regex_search(header, found, std::regex(R"('descr'\s*:\s*'([<>|=])(\w)(\d+)')")))
        throw Error(fmt::format("{}: its elements are structures: save one field", path));
    std::string code = found[2].str() + found[3].str();
    if (code == "b1") // bool
        code = "u1";
    for (const ElementType &type : element_types())
        if (type.npy == code && (found[1] != ">" || type.bytes == 1))
            return type;
    throw Error(fmt::format("{}: its elements are '{}{}': convert them to little-endian float16, "
                            "float32, float64 or integers, as with x.astype('<f4')",
                            path, found[1].str(), code));
}

std::vector<u64> npy_shape(const std::string &path, const std::string &header) {
    std::smatch found;
    if (!std::regex_search(header, found, std::regex(R"('shape'\s*:\s*\(([\d,\s]*)\))")))
        throw Error(fmt::format("{}: its header has no shape: write it with numpy.save", path));
    std::vector<u64> shape;
    const std::string list = found[1];
    for (size_t at = list.find_first_of("0123456789"); at != list.npos;
         at = list.find_first_of("0123456789", at)) {
        u64 size = 0;
        const auto [end, error] =
            std::from_chars(list.data() + at, list.data() + list.size(), size);
        at = error == std::errc{} ? static_cast<size_t>(end - list.data()) : list.size();
        shape.push_back(size);
    }
    return shape;
}

} // namespace

std::string shape_text(std::span<const u64> shape) {
    std::string text = "(";
    for (size_t n = 0; n < shape.size(); ++n)
        text += fmt::format("{}{}", n ? ", " : "", shape[n]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

Array read_npy(const std::string &path) {
    Array array{nullptr, {}, read_text(path)};
    const NpyHeader header = npy_header(path, array.file);
    array.type = &npy_type(path, header.text);
    array.shape = npy_shape(path, header.text);
    array.start = header.end;
    if (array.shape.size() > 1 &&
        std::regex_search(header.text, std::regex(R"('fortran_order'\s*:\s*True)")))
        throw Error(
            fmt::format("{}: is in Fortran's order: save numpy.ascontiguousarray(x)", path));
    u64 want = array.type->bytes;
    for (const u64 size : array.shape)
        if (__builtin_mul_overflow(want, size, &want))
            throw Error(
                fmt::format("{}: its shape {} is too large", path, shape_text(array.shape)));
    if (array.bytes().size() != want)
        throw Error(fmt::format("{}: has {} bytes of elements, its shape {} of {} wants {}", path,
                                array.bytes().size(), shape_text(array.shape), array.type->name,
                                want));
    return array;
}

void write_npy(const char *option, const std::string &path, const ElementType &type,
               std::span<const u64> shape, std::span<const std::byte> bytes) {
    std::string dict = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}",
                                   type.bytes == 1 ? '|' : '<', type.npy.empty() ? "u2" : type.npy,
                                   shape_text(shape));
    constexpr size_t fixed = 10, unit = 64; // what precedes the elements is a multiple of 64 bytes
    dict.resize((fixed + dict.size() + 1 + unit - 1) / unit * unit - fixed, ' ');
    dict.back() = '\n';
    std::string file = std::string(npy_magic) + '\1' + '\0';
    file += static_cast<char>(dict.size() & 0xff);
    file += static_cast<char>(dict.size() >> 8);
    file += dict;
    file.append(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    write_text(option, path, file);
}

} // namespace nw::cli
