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
#include "sim/func/hidden_args.h"

namespace nw::cli {

const char *const arguments_help =
    "The kernel's arguments, by position: buf:BYTES[:FILL] (BYTES may end in K, M, G; FILL: zero, "
    "the default, random bits, random values near a standard normal as f32, f16 or bf16, or a "
    "number for every dword), null, u8:V u16:V i16:V u32:V i32:V u64:V i64:V f16:V bf16:V f32:V "
    "f64:V, hex:BYTES";

namespace {

struct Number {
    std::string_view type;
    u32 bytes;
    bool is_signed, real;
};
constexpr Number numbers[] = {
    {"u8", 1, false, false},  {"u16", 2, false, false}, {"i16", 2, true, false},
    {"u32", 4, false, false}, {"i32", 4, true, false},  {"u64", 8, false, false},
    {"i64", 8, true, false},  {"f16", 2, false, true},  {"bf16", 2, false, true},
    {"f32", 4, false, true},  {"f64", 8, false, true},
};

// One argument word with its position.
struct Word {
    const std::string &text;
    size_t index;
    const sim::Arg &arg;

    [[noreturn]] void fail(std::string_view why) const {
        throw Error(fmt::format("--args {}: argument {} '{}' ({} bytes, {}): {}", text, index,
                                arg.name, arg.size, arg.value_kind, why));
    }
    void fits(u32 bytes) const {
        if (bytes == arg.size)
            return;
        std::string types;
        for (const Number &n : numbers)
            if (n.bytes == arg.size)
                types += fmt::format("{}{}", types.empty() ? "" : ", ", n.type);
        fail(fmt::format(
            "the argument has {} bytes: use {}{}", bytes, arg.size == 8 ? "buf, null, " : "",
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

u64 integer_bits(const Word &word, const Number &type, std::string_view value) {
    const u32 bits = type.bytes * 8;
    if (type.is_signed) {
        const auto number = signed_integer(value);
        const i64 most = static_cast<i64>(~u64{0} >> (65 - bits));
        if (!number || *number > most || *number < -most - 1)
            word.fail(fmt::format("{} is out of range for {}: must be {} to {}", value, type.type,
                                  -most - 1, most));
        return static_cast<u64>(*number);
    }
    const auto number = unsigned_integer(value);
    const u64 most = ~u64{0} >> (64 - bits);
    if (!number || *number > most)
        word.fail(
            fmt::format("{} is out of range for {}: must be 0 to {}", value, type.type, most));
    return *number;
}

u64 real_bits(const Word &word, const Number &type, std::string_view value) {
    f64 number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size())
        word.fail(fmt::format("{} is not a number", value));
    if (type.type == "f64")
        return std::bit_cast<u64>(number);
    const f32 narrow = static_cast<f32>(number);
    if (type.type == "f32")
        return std::bit_cast<u32>(narrow);
    return type.type == "f16" ? f32_to_f16(narrow) : f32_to_bf16(narrow);
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

u64 make_buffer(const Word &word, std::string_view rest, sim::Memory &memory, const Rng &rng) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const u64 bytes = buffer_bytes(word, rest.substr(0, colon));
    auto *p = static_cast<std::byte *>(
        memory.allocate(bytes, fmt::format("argument {} '{}'", word.index, word.arg.name)));
    if (!p)
        word.fail("this machine has not enough memory for it");
    fill(word, {p, bytes}, colon < rest.size() ? rest.substr(colon + 1) : "", rng);
    return reinterpret_cast<u64>(p);
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

void put(const Word &word, std::byte *to, sim::Memory &memory, const Rng &rng) {
    const std::string_view text = word.text;
    const size_t colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    const std::string_view rest = colon == text.npos ? "" : text.substr(colon + 1);
    if (kind == "hex")
        return put_hex(word, rest, to);
    u64 bits = 0;
    u32 bytes = 8;
    if (kind == "buf") {
        word.fits(8);
        bits = make_buffer(word, rest, memory, rng);
    } else if (text != "null") {
        const auto type = std::find_if(std::begin(numbers), std::end(numbers),
                                       [&](const Number &n) { return n.type == kind; });
        if (type == std::end(numbers))
            word.fail(fmt::format("{} is not a kind of argument: use buf, null, hex, u8, u16, i16, "
                                  "u32, i32, u64, i64, f16, bf16, f32, f64",
                                  kind));
        bytes = type->bytes;
        bits = type->real ? real_bits(word, *type, rest) : integer_bits(word, *type, rest);
    }
    word.fits(bytes);
    std::memcpy(to, &bits, bytes);
}

} // namespace

std::string expected_arguments(const sim::KernelInfo &kernel) {
    std::string list;
    for (const sim::Arg &arg : kernel.args)
        if (!sim::is_hidden(arg))
            list += fmt::format("{}{} ({} bytes, {})", list.empty() ? "" : ", ",
                                arg.name.empty() ? "?" : arg.name, arg.size, arg.value_kind);
    return list.empty() ? "none" : list;
}

std::vector<std::byte> make_kernarg(const sim::Dispatch &d, std::span<const std::string> words,
                                    sim::Memory &memory, u64 seed) {
    const sim::KernelInfo &kernel = *d.kernel;
    const auto explicit_args = std::count_if(kernel.args.begin(), kernel.args.end(),
                                             [](const sim::Arg &a) { return !sim::is_hidden(a); });
    if (static_cast<size_t>(explicit_args) != words.size())
        throw Error(fmt::format("--args: {} takes {} arguments, {} are given; it expects {}",
                                kernel.name, explicit_args, words.size(),
                                expected_arguments(kernel)));
    std::vector<std::byte> block(kernel.kernarg_bytes);
    size_t index = 0;
    for (const sim::Arg &arg : kernel.args) {
        if (u64{arg.offset} + arg.size > block.size())
            throw Error(fmt::format("{}: argument '{}' ends at byte {} of a {}-byte kernarg "
                                    "segment: its metadata is wrong",
                                    kernel.name, arg.name, u64{arg.offset} + arg.size,
                                    block.size()));
        std::byte *const at = block.data() + arg.offset;
        if (sim::is_hidden(arg)) {
            const u64 value = sim::hidden_value(arg.value_kind, d);
            std::memcpy(at, &value, std::min<size_t>(arg.size, sizeof value));
        } else {
            put({words[index], index, arg}, at, memory, Rng(seed).fork(index));
            ++index;
        }
    }
    return block;
}

} // namespace nw::cli
