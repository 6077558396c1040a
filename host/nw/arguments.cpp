// SPDX-License-Identifier: MIT
#include "nw/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <optional>

#include "base/half.h"
#include "base/rng.h"
#include "nw/elements.h"
#include "nw/npy.h"
#include "sim/func/launch/hidden_args.h"

namespace nw::cli {

const char *const arguments_help =
    "The kernel's arguments, by position or all as NAME=...: buf:BYTES[:FILL] (BYTES may end in K, "
    "M, G; FILL: zero, the default, random bits, random values near a standard normal as f32, f16 "
    "or bf16, or a number for every dword), npy:FILE (a buffer with the elements of NumPy's file), "
    "null, u8:V i8:V u16:V i16:V u32:V i32:V u64:V i64:V f16:V bf16:V f32:V f64:V, hex:BYTES";

namespace {

// As the source has it: clang passes a pointer x of HIP as x.coerce.
std::string shown_name(const sim::Arg &arg) {
    constexpr std::string_view coerced = ".coerce";
    return arg.name.ends_with(coerced) ? arg.name.substr(0, arg.name.size() - coerced.size())
                                       : arg.name;
}

// One argument word with its position.
struct Word {
    std::string_view text; // without NAME=
    size_t index;
    const sim::Arg &arg;

    [[noreturn]] void fail(std::string_view why) const {
        throw Error(fmt::format("--args {}: argument {} '{}' ({} bytes, {}): {}", text, index,
                                shown_name(arg), arg.size, arg.value_kind, why));
    }
    void fits(u32 bytes) const {
        if (bytes == arg.size)
            return;
        const std::string types = element_type_names(arg.size);
        fail(fmt::format(
            "{} bytes are given: use {}{}", bytes, arg.size == 8 ? "buf, npy, null, " : "",
            types.empty() ? fmt::format("hex:{}", std::string(arg.size * 2, '0')) : types));
    }
};

std::optional<i64> signed_integer(std::string_view text) {
    const bool minus = text.starts_with("-");
    text.remove_prefix(minus);
    const int base = text.starts_with("0x") ? 16 : 10;
    text.remove_prefix(base == 16 ? 2 : 0);
    i64 value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size())
        return {};
    return minus ? -value : value;
}

std::optional<u64> unsigned_integer(std::string_view text) {
    const int base = text.starts_with("0x") ? 16 : 10;
    text.remove_prefix(base == 16 ? 2 : 0);
    u64 value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

u64 integer_bits(const Word &word, const ElementType &type, std::string_view value) {
    const u32 bits = type.bytes * 8;
    if (type.is_signed) {
        const auto number = signed_integer(value);
        const i64 most = static_cast<i64>(~u64{0} >> (65 - bits));
        if (!number || *number > most || *number < -most - 1)
            word.fail(fmt::format("{} is out of range for {}: must be {} to {}", value, type.name,
                                  -most - 1, most));
        return static_cast<u64>(*number);
    }
    const auto number = unsigned_integer(value);
    const u64 most = ~u64{0} >> (64 - bits);
    if (!number || *number > most)
        word.fail(
            fmt::format("{} is out of range for {}: must be 0 to {}", value, type.name, most));
    return *number;
}

u64 real_bits(const Word &word, const ElementType &type, std::string_view value) {
    f64 number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size())
        word.fail(fmt::format("{} is not a number", value));
    if (type.name == "f64")
        return std::bit_cast<u64>(number);
    const f32 narrow = static_cast<f32>(number);
    if (type.name == "f32")
        return std::bit_cast<u32>(narrow);
    return type.name == "f16" ? f32_to_f16(narrow) : f32_to_bf16(narrow);
}

u64 buffer_bytes(const Word &word, std::string_view text) {
    constexpr std::string_view suffixes = "KMG";
    const size_t suffix = text.empty() ? suffixes.npos : suffixes.find(text.back());
    const u32 shift = suffix == suffixes.npos ? 0 : 10 * (static_cast<u32>(suffix) + 1);
    const auto number = unsigned_integer(shift ? text.substr(0, text.size() - 1) : text);
    constexpr u64 most = u64{1} << 40;
    if (!number || *number == 0 || *number > most >> shift)
        word.fail(fmt::format("{} is not a buffer size: must be 1 byte to 1024G", text));
    return *number << shift;
}

template <class T, class F> void fill_each(std::span<std::byte> bytes, F value) {
    for (size_t at = 0, n = 0; at < bytes.size(); at += sizeof(T), ++n) {
        const T one = static_cast<T>(value(n));
        std::memcpy(bytes.data() + at, &one, std::min(sizeof(T), bytes.size() - at));
    }
}

void fill(const Word &word, std::span<std::byte> bytes, std::string_view how, const Rng &rng) {
    if (how == "zero" || how.empty())
        std::fill(bytes.begin(), bytes.end(), std::byte{0});
    else if (how == "random")
        fill_each<u64>(bytes, [&](size_t n) { return rng.at(n); });
    else if (how == "f32")
        fill_each<u32>(bytes, [&](size_t n) { return std::bit_cast<u32>(rng.normal_at(n)); });
    else if (how == "f16")
        fill_each<u16>(bytes, [&](size_t n) { return f32_to_f16(rng.normal_at(n)); });
    else if (how == "bf16")
        fill_each<u16>(bytes, [&](size_t n) { return f32_to_bf16(rng.normal_at(n)); });
    else if (const auto number = unsigned_integer(how); number && *number <= ~u32{0})
        fill_each<u32>(bytes, [&](size_t) { return *number; });
    else
        word.fail(fmt::format("{} is not a fill: use zero, random, f32, f16, bf16 or a dword value",
                              how));
}

u64 make_buffer(const Word &word, u64 bytes, ArgumentMemory &memory,
                const ArgumentMemory::Fill &fill) {
    const u64 address =
        memory.make(bytes, fmt::format("argument {} '{}'", word.index, shown_name(word.arg)), fill);
    if (!address)
        word.fail("this machine has not enough memory for it");
    return address;
}

// buf:BYTES[:FILL]; `rest` is what follows the first colon.
u64 fill_buffer(const Word &word, std::string_view rest, ArgumentMemory &memory, const Rng &rng,
                BufferArgument &made) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const std::string_view how = colon < rest.size() ? rest.substr(colon + 1) : "";
    made.bytes = buffer_bytes(word, rest.substr(0, colon));
    made.type = find_element_type(how);
    return make_buffer(word, made.bytes, memory,
                       [&](std::span<std::byte> to) { fill(word, to, how, rng); });
}

u64 read_buffer(const Word &word, std::string_view file, ArgumentMemory &memory,
                BufferArgument &made) {
    Array array{};
    try {
        array = read_npy(std::string(file));
    } catch (const Error &error) {
        word.fail(error.what());
    }
    made.bytes = array.bytes().size();
    made.type = array.type;
    made.shape = array.shape;
    if (made.bytes == 0)
        word.fail(fmt::format("{}: has no elements: use null", file));
    return make_buffer(word, made.bytes, memory, [&](std::span<std::byte> to) {
        std::ranges::copy(array.bytes(), to.begin());
    });
}

void put_hex(const Word &word, std::string_view digits, std::byte *to) {
    const bool whole =
        digits.size() % 2 == 0 && digits.find_first_not_of("0123456789abcdefABCDEF") == digits.npos;
    if (!whole)
        word.fail("hex: takes two hexadecimal digits per byte, first byte first");
    word.fits(static_cast<u32>(digits.size() / 2));
    for (size_t n = 0; n < digits.size() / 2; ++n) {
        u8 byte = 0;
        std::from_chars(digits.data() + 2 * n, digits.data() + 2 * n + 2, byte, 16);
        to[n] = std::byte{byte};
    }
}

u64 value_bits(const Word &word, std::string_view kind, std::string_view value) {
    const ElementType *type = find_element_type(kind);
    if (!type)
        word.fail(fmt::format("{} is not a kind of argument: use buf, npy, null, hex, {}", kind,
                              element_type_names()));
    word.fits(type->bytes);
    return type->real ? real_bits(word, *type, value) : integer_bits(word, *type, value);
}

void put(const Word &word, std::byte *to, ArgumentMemory &memory, const Rng &rng, Kernarg &out) {
    const std::string_view text = word.text;
    const size_t colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    const std::string_view rest = colon == text.npos ? "" : text.substr(colon + 1);
    if (kind == "hex")
        return put_hex(word, rest, to);
    u64 bits = 0;
    u32 bytes = 8;
    if (kind == "buf" || kind == "npy") {
        word.fits(bytes);
        BufferArgument made{word.index, shown_name(word.arg)};
        bits = kind == "buf" ? fill_buffer(word, rest, memory, rng, made)
                             : read_buffer(word, rest, memory, made);
        out.buffers.push_back(std::move(made));
    } else if (text == "null") {
        word.fits(bytes);
    } else {
        bits = value_bits(word, kind, rest);
        bytes = word.arg.size;
    }
    std::memcpy(to, &bits, bytes);
}

// NAME of "NAME=...", or "".
std::string_view name_of_word(std::string_view word) {
    const size_t end = word.find_first_of("=:");
    return end != word.npos && word[end] == '=' ? word.substr(0, end) : "";
}

std::vector<const sim::Arg *> explicit_arguments(const sim::KernelInfo &kernel) {
    std::vector<const sim::Arg *> out;
    for (const sim::Arg &arg : kernel.args)
        if (!sim::is_hidden(arg))
            out.push_back(&arg);
    return out;
}

// The words in the order of the arguments, without names.
std::vector<std::string_view> in_order(const sim::KernelInfo &kernel,
                                       std::span<const std::string> words) {
    const auto args = explicit_arguments(kernel);
    const auto named = std::ranges::count_if(
        words, [](const std::string &word) { return !name_of_word(word).empty(); });
    if (named && static_cast<size_t>(named) != words.size())
        throw Error(fmt::format("--args: {} of {} have names: name all, or give all by position",
                                named, words.size()));
    if (args.size() != words.size())
        throw Error(fmt::format("--args: {} takes {} arguments, {} are given; it expects {}",
                                kernel.name, args.size(), words.size(),
                                expected_arguments(kernel)));
    std::vector<std::string_view> out(words.begin(), words.end());
    for (const std::string &word : words) {
        const std::string_view name = name_of_word(word);
        if (name.empty())
            return out;
        const auto at = std::ranges::find_if(
            args, [&](const sim::Arg *arg) { return shown_name(*arg) == name; });
        if (at == args.end())
            throw Error(fmt::format("--args {}: {} has no argument '{}'; it expects {}", word,
                                    kernel.name, name, expected_arguments(kernel)));
        std::string_view &to = out[static_cast<size_t>(at - args.begin())];
        if (name_of_word(to).empty()) // its word has been taken already
            throw Error(fmt::format("--args {}: '{}' is given twice", word, name));
        to = std::string_view(word).substr(name.size() + 1);
    }
    return out;
}

} // namespace

std::string expected_arguments(const sim::KernelInfo &kernel) {
    std::string list;
    for (const sim::Arg *arg : explicit_arguments(kernel))
        list += fmt::format("{}{} ({} bytes, {})", list.empty() ? "" : ", ",
                            arg->name.empty() ? "?" : shown_name(*arg), arg->size, arg->value_kind);
    return list.empty() ? "none" : list;
}

Kernarg make_kernarg(const sim::Dispatch &d, std::span<const std::string> words,
                     ArgumentMemory &memory, u64 seed) {
    const sim::KernelInfo &kernel = *d.kernel;
    const std::vector<std::string_view> ordered = in_order(kernel, words);
    Kernarg out;
    out.block.resize(kernel.kernarg_bytes);
    size_t index = 0;
    for (const sim::Arg &arg : kernel.args) {
        if (u64{arg.offset} + arg.size > out.block.size())
            throw Error(fmt::format("{}: argument '{}' ends at byte {} of a {}-byte kernarg "
                                    "segment: its metadata is wrong",
                                    kernel.name, arg.name, u64{arg.offset} + arg.size,
                                    out.block.size()));
        std::byte *const at = out.block.data() + arg.offset;
        if (sim::is_hidden(arg)) {
            const u64 value = sim::hidden_value(arg.value_kind, d);
            std::memcpy(at, &value, std::min<size_t>(arg.size, sizeof value));
        } else {
            put({ordered[index], index, arg}, at, memory, Rng(seed).fork(index), out);
            ++index;
        }
    }
    return out;
}

} // namespace nw::cli
