// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace nw::cli {

// A line of what nw choose says.
inline void row(std::string_view name, const std::string &text) {
    fmt::print("{:<11} {}\n", name, text);
}

} // namespace nw::cli
