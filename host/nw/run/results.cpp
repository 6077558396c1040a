// SPDX-License-Identifier: MIT
#include "nw/run/results.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "base/error.h"
#include "base/split.h"
#include "base/writable.h"

namespace nw::cli {

const char *const print_help =
    "Print a buffer after the launch: ARGUMENT[:TYPE[:COUNT]], ARGUMENT a name or a position from "
    "0, TYPE as in --args; default: that of its fill or file, and 16 elements";
const char *const save_help = "Write a buffer as NumPy's file: ARGUMENT:FILE[:TYPE]; bf16 as its "
                              "bits in u16";
const char *const compare_help =
    "Compare a buffer with NumPy's file, of its first elements: ARGUMENT:FILE[:TOLERANCE]; they "
    "agree if |got - want| <= TOLERANCE * max(1, |want|); default 0; a file of u16 "
    "is bf16 if the buffer is";

namespace {

[[noreturn]] void refuse(const char *option, const std::string &text, std::string_view why) {
    throw Error(fmt::format("{} {}: {}", option, text, why));
}

template <class T> bool whole_number(const std::string &text, T &value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

const ElementType &type_named(const char *option, const std::string &text,
                              const std::string &name) {
    if (const ElementType *type = find_element_type(name))
        return *type;
    refuse(option, text,
           fmt::format("'{}' is not a type: use one of {}", name, element_type_names()));
}

const ElementType &own_type(const char *option, const std::string &text,
                            const BufferArgument &buffer) {
    if (!buffer.type)
        refuse(
            option, text,
            fmt::format("the type of {} is not known: add one, as in {}:f32", title(buffer), text));
    return *buffer.type;
}

// "y:FILE:LAST": FILE may have colons, LAST is there if `is_last` takes it.
struct FileRequest {
    std::string argument, file;
    std::optional<std::string> last;
};
FileRequest file_request(const char *option, const std::string &text,
                         const std::function<bool(const std::string &)> &is_last) {
    const size_t first = text.find(':'), last = text.rfind(':');
    if (first == text.npos || first + 1 == text.size())
        refuse(option, text, "names no file, as in y:out.npy");
    FileRequest out{text.substr(0, first), text.substr(first + 1), {}};
    if (last != first && is_last(text.substr(last + 1))) {
        out.file = text.substr(first + 1, last - first - 1);
        out.last = text.substr(last + 1);
    }
    return out;
}

// The elements of a buffer that differ most from what they should be, and the first that differ
// too much.
struct Differences {
    u64 count = 0;
    std::vector<u64> first;
    f64 worst = 0; // |got - want|
    u64 worst_at = 0;
};

Differences differences(const Compare &c, std::span<const std::byte> got) {
    constexpr size_t shown = 5;
    const ElementType &type = *c.want.type;
    Differences out;
    for (u64 n = 0; n < c.want.count(); ++n) {
        const u64 at = n * type.bytes;
        const f64 have = element_value(type, got.data() + at);
        const f64 want = element_value(type, c.want.bytes().data() + at);
        if (have == want || (std::isnan(have) && std::isnan(want)))
            continue;
        const f64 distance = std::abs(have - want);
        const f64 error = std::isnan(distance) ? std::numeric_limits<f64>::infinity() : distance;
        if (error > out.worst)
            out.worst = error, out.worst_at = n;
        if (error <= c.tolerance * std::max(1.0, std::abs(want)) && std::isfinite(want))
            continue;
        ++out.count;
        if (out.first.size() < shown)
            out.first.push_back(n);
    }
    return out;
}

} // namespace

std::string title(const BufferArgument &buffer) {
    return buffer.name.empty() ? fmt::format("argument {}", buffer.index) : buffer.name;
}

const BufferArgument &buffer_of(const char *option, const std::string &text,
                                const std::string &argument,
                                std::span<const BufferArgument> buffers) {
    size_t index = 0;
    const bool is_index = whole_number(argument, index);
    std::string names;
    for (const BufferArgument &buffer : buffers) {
        if (is_index ? buffer.index == index : buffer.name == argument)
            return buffer;
        names += fmt::format("{}{}{}", names.empty() ? "" : ", ", buffer.index,
                             buffer.name.empty() ? "" : " (" + buffer.name + ")");
    }
    refuse(option, text,
           fmt::format("'{}' is not a buffer of --args: they are {}", argument,
                       names.empty() ? "none" : names));
}

Print read_print(const std::string &text, std::span<const BufferArgument> buffers) {
    constexpr const char *option = "--print";
    constexpr u64 usual = 16;
    const auto parts = split(text, ':');
    if (parts.size() > 3)
        refuse(option, text, "must be ARGUMENT[:TYPE[:COUNT]], as in y:f32:16");
    const BufferArgument &buffer = buffer_of(option, text, parts[0], buffers);
    const ElementType &type =
        parts.size() > 1 ? type_named(option, text, parts[1]) : own_type(option, text, buffer);
    u64 count = usual;
    if (parts.size() > 2 && (!whole_number(parts[2], count) || count == 0))
        refuse(option, text, fmt::format("'{}' is not a number of elements from 1 on", parts[2]));
    return {&buffer, &type, std::min(count, buffer.bytes / type.bytes)};
}

Save read_save(const std::string &text, std::span<const BufferArgument> buffers) {
    constexpr const char *option = "--save";
    const FileRequest r = file_request(
        option, text, [](const std::string &last) { return find_element_type(last) != nullptr; });
    const BufferArgument &buffer = buffer_of(option, text, r.argument, buffers);
    const ElementType &type =
        r.last ? type_named(option, text, *r.last) : own_type(option, text, buffer);
    if (buffer.bytes % type.bytes)
        refuse(option, text,
               fmt::format("{} bytes are no whole number of {}", buffer.bytes, type.name));
    if (const std::string why = unwritable(r.file); !why.empty()) // before the work
        refuse(option, text, why);
    return {&buffer, &type, r.file};
}

Compare read_compare(const std::string &text, std::span<const BufferArgument> buffers) {
    constexpr const char *option = "--compare";
    f64 tolerance = 0;
    const FileRequest r = file_request(
        option, text, [&](const std::string &last) { return whole_number(last, tolerance); });
    if (!(tolerance >= 0))
        refuse(option, text, "the tolerance must be 0 or more");
    const BufferArgument &buffer = buffer_of(option, text, r.argument, buffers);
    Compare out{&buffer, {}, r.file, tolerance};
    try {
        out.want = read_npy(r.file);
    } catch (const Error &error) {
        refuse(option, text, error.what());
    }
    const ElementType *bf16 = find_element_type("bf16");
    if (buffer.type == bf16 && out.want.type->name == "u16") // NumPy has no name for it
        out.want.type = bf16;
    if (buffer.type && buffer.type != out.want.type)
        refuse(option, text,
               fmt::format("{} is {}, the file has {}: save it as that", title(buffer),
                           buffer.type->name, out.want.type->name));
    if (out.want.bytes().size() > buffer.bytes)
        refuse(option, text,
               fmt::format("{} has {} bytes, {} in {} wants {}", title(buffer), buffer.bytes,
                           shape_text(out.want.shape), r.file, out.want.bytes().size()));
    return out;
}

void print(const Print &p, std::span<const std::byte> bytes) {
    constexpr u64 per_line = 8;
    const u64 all = bytes.size() / p.type->bytes;
    fmt::print("{}: {} of {} {}\n", title(*p.buffer), p.count, all, p.type->name);
    for (u64 n = 0; n < p.count; n += per_line) {
        fmt::print("{:>8} ", fmt::format("[{}]", n));
        for (u64 i = n; i < std::min(p.count, n + per_line); ++i)
            fmt::print(" {}", element_text(*p.type, bytes.data() + i * p.type->bytes));
        fmt::print("\n");
    }
}

void save(const Save &s, std::span<const std::byte> bytes) {
    const u64 count = bytes.size() / s.type->bytes;
    u64 of_shape = 1;
    for (const u64 size : s.buffer->shape)
        of_shape *= size;
    const bool same = !s.buffer->shape.empty() && of_shape == count;
    const std::vector<u64> shape = same ? s.buffer->shape : std::vector<u64>{count};
    write_npy("--save", s.file, *s.type, shape, bytes);
    fmt::print("{}: {} {} in {}\n", title(*s.buffer), s.type->name, shape_text(shape), s.file);
}

bool agrees(const Compare &c, std::span<const std::byte> bytes) {
    const Differences found = differences(c, bytes);
    const ElementType &type = *c.want.type;
    const auto pair = [&](u64 n) {
        const u64 at = n * type.bytes;
        return fmt::format("[{}] got {} want {}", n, element_text(type, bytes.data() + at),
                           element_text(type, c.want.bytes().data() + at));
    };
    const std::string worst = found.worst == 0 ? "all equal"
                                               : fmt::format("largest difference {:.3g}: {}",
                                                             found.worst, pair(found.worst_at));
    if (found.count == 0) {
        fmt::print("{}: {} {} agree with {} within {}; {}\n", title(*c.buffer), c.want.count(),
                   type.name, c.file, c.tolerance, worst);
        return true;
    }
    fmt::print("{}: {} of {} {} differ from {} by more than {} * max(1, |want|); {}\n",
               title(*c.buffer), found.count, c.want.count(), type.name, c.file, c.tolerance,
               worst);
    for (const u64 n : found.first)
        fmt::print("  {}\n", pair(n));
    return false;
}

} // namespace nw::cli
