// SPDX-License-Identifier: MIT
#pragma once
#include <cstdlib>
#include <fmt/color.h>
#include <string_view>
#include <unistd.h>

namespace nw {

// Whether a stream is a terminal that knows escape codes.
inline bool is_terminal(int stream) {
    const char *term = std::getenv("TERM");
    return isatty(stream) && !(term && std::string_view(term) == "dumb");
}

// Whether output on a stream may have colour (https://no-color.org).
inline bool has_colour(int stream) {
    const char *refused = std::getenv("NO_COLOR");
    return is_terminal(stream) && !(refused && *refused);
}

// The style where stdout may have colour, else none.
inline fmt::text_style on_stdout(fmt::text_style style) {
    static const bool colour = has_colour(STDOUT_FILENO);
    return colour ? style : fmt::text_style{};
}

inline fmt::text_style heading_style() { return on_stdout(fmt::emphasis::bold); }
inline fmt::text_style bad_style() { return on_stdout(fmt::fg(fmt::terminal_color::red)); }

} // namespace nw
