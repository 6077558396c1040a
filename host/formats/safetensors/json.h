// SPDX-License-Identifier: MIT
// Untrusted JSON.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/types.h"

namespace nw {

// Parsers disagree about which value of a repeated key counts; Python's takes the last.
enum class RepeatedKeys : u8 { refused, last_counts };

// Throws Error if the text is not JSON in UTF-8, nests deeper than `deepest`, or repeats a key in
// an object where that is refused.
nlohmann::json parse_json(std::string_view text, const std::string &what, u32 deepest,
                          RepeatedKeys = RepeatedKeys::refused);

// A name from a file, quoted and escaped for a terminal.
std::string in_quotes(std::string_view name);

} // namespace nw
