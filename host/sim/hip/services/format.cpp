// SPDX-License-Identifier: MIT
#include "sim/hip/services/format.h"

#include <algorithm>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "base/half.h"

namespace nw::hipsim {

namespace {

constexpr int most_digits = 1 << 16; // of a width or precision: a kernel may send any number

// One conversion: %-08.3lld
struct Conversion {
    std::string flags, length;
    int width = -1, precision = -1; // -1: none
    bool width_follows = false, precision_follows = false;
    unsigned elements = 1; // of a vector
    char type = 0;         // 0: the format ends before it
    size_t end = 0;        // in the format
};

class Reader {
public:
    Reader(std::string_view text, size_t at) : text_(text), at_(at) {}

    Conversion read() {
        Conversion c;
        c.flags = span("-+ #0");
        c.width_follows = take("*");
        if (!c.width_follows)
            c.width = digits();
        if (take(".")) {
            c.precision_follows = take("*");
            c.precision = c.precision_follows ? -1 : std::max(digits(), 0);
        }
        if (take("v"))
            c.elements = static_cast<unsigned>(std::clamp(digits(), 1, 16));
        c.length = span("hlLjztq");
        c.type = at_ < text_.size() ? text_[at_++] : '\0';
        c.end = at_;
        return c;
    }

private:
    bool take(std::string_view word) {
        const bool found = text_.substr(at_).starts_with(word);
        at_ += found ? word.size() : 0;
        return found;
    }
    std::string span(std::string_view of) {
        const size_t end = std::min(text_.find_first_not_of(of, at_), text_.size());
        const std::string found(text_.substr(at_, end - at_));
        at_ = end;
        return found;
    }
    int digits() {
        int value = -1;
        const auto [end, error] =
            std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (error == std::errc::result_out_of_range)
            value = most_digits;
        at_ = static_cast<size_t>(end - text_.data());
        return std::min(value, most_digits);
    }

    std::string_view text_;
    size_t at_;
};

std::string printed(const char *spec, ...) __attribute__((format(printf, 1, 2)));
std::string printed(const char *spec, ...) {
    va_list arguments, again;
    va_start(arguments, spec);
    va_copy(again, arguments);
    const int size = std::vsnprintf(nullptr, 0, spec, arguments);
    std::string text(size > 0 ? static_cast<size_t>(size) : 0, '\0');
    if (size > 0)
        std::vsnprintf(text.data(), text.size() + 1, spec, again);
    va_end(arguments);
    va_end(again);
    return text;
}

// The specification that C's printf gets for one value of the given length.
std::string spec_of(const Conversion &c, const char *length) {
    std::string spec = "%" + c.flags;
    if (c.width >= 0)
        spec += std::to_string(c.width);
    if (c.precision >= 0)
        spec += "." + std::to_string(c.precision);
    return spec + length + c.type;
}

u64 integer(const std::byte *at, size_t bytes, bool is_signed) {
    u64 value = 0;
    std::memcpy(&value, at, std::min<size_t>(bytes, 8));
    if (bytes < 8 && is_signed && value >> (8 * bytes - 1) & 1)
        value |= ~u64{0} << (8 * bytes);
    return value;
}

f64 real(const std::byte *at, size_t bytes) {
    const u64 bits = integer(at, bytes, false);
    if (bytes == 2)
        return f64{f16_to_f32(static_cast<u16>(bits))};
    if (bytes == 4) {
        const auto low = static_cast<u32>(bits);
        f32 value;
        std::memcpy(&value, &low, sizeof value);
        return f64{value};
    }
    f64 value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// The specifications are made here, so the compiler can't check them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
std::string element(const Conversion &c, const std::byte *at, size_t bytes) {
    const bool is_long = c.length.find_first_of("ljztq") != std::string::npos && c.length != "hl";
    const char *const small = c.length == "hh" ? "hh" : c.length == "h" ? "h" : "";
    switch (c.type) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
        const u64 value = integer(at, bytes, c.type == 'd' || c.type == 'i');
        if (is_long)
            return printed(spec_of(c, "ll").c_str(), static_cast<unsigned long long>(value));
        return printed(spec_of(c, small).c_str(), static_cast<unsigned>(value));
    }
    case 'c':
        return printed(spec_of(c, "").c_str(), static_cast<int>(integer(at, bytes, true)));
    case 'p':
        return printed(spec_of(c, "").c_str(), reinterpret_cast<void *>(integer(at, bytes, false)));
    default:
        return printed(spec_of(c, "").c_str(), real(at, bytes));
    }
}

std::string string(const Conversion &c, const std::string &text) {
    return printed(spec_of(c, "").c_str(), text.c_str());
}
#pragma GCC diagnostic pop

// False: the argument of a * is missing.
bool take_stars(Conversion &c, FormatArguments &arguments) {
    const auto star = [&](int &value) {
        const auto given = arguments.number();
        if (!given)
            return false;
        value = std::clamp(static_cast<int>(integer(given->data(), given->size(), true)),
                           -most_digits, most_digits);
        return true;
    };
    if (c.width_follows) {
        if (!star(c.width))
            return false;
        if (c.width < 0) { // as in C: a flag, and its absolute value
            c.flags += '-';
            c.width = -c.width;
        }
    }
    return !c.precision_follows || star(c.precision);
}

// Nothing: the argument is missing.
std::optional<std::string> converted(Conversion &c, FormatArguments &arguments) {
    if (!take_stars(c, arguments))
        return std::nullopt;
    if (c.type == 's') {
        const auto text = arguments.text();
        return text ? std::optional(string(c, *text)) : std::nullopt;
    }
    const auto value = arguments.number();
    if (!value)
        return std::nullopt;
    if (c.type == 'n')
        return "";
    const size_t bytes = value->size() / c.elements;
    std::string text;
    for (unsigned n = 0; bytes && n < c.elements; ++n)
        text += (n ? "," : "") + element(c, value->data() + n * bytes, bytes);
    return text;
}

} // namespace

std::string format_text(std::string_view format, FormatArguments &arguments) {
    constexpr std::string_view types = "diouxXcpsnaAeEfFgG";
    std::string out;
    for (size_t at = 0; at < format.size();) {
        const size_t percent = std::min(format.find('%', at), format.size());
        out += format.substr(at, percent - at);
        if (percent == format.size())
            break;
        Conversion c = Reader(format, percent + 1).read();
        at = c.end;
        if (c.type == '%')
            out += '%';
        else if (c.type == 0 || types.find(c.type) == std::string_view::npos)
            out += format.substr(percent, c.end - percent);
        else if (const auto text = converted(c, arguments))
            out += *text;
        else
            break;
    }
    return out;
}

} // namespace nw::hipsim
