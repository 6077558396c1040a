// SPDX-License-Identifier: MIT
// JSON that nobody vouches for.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/types.h"

namespace nw {

// Throws Error where the text is not JSON in UTF-8, nests deeper than `deepest`, or has a key twice
// in one object: readers that keep the first and readers that keep the last would disagree.
nlohmann::json parse_json(std::string_view text, const std::string &what, u32 deepest);

// A name from a file, in quotes, fit for a message on a terminal.
std::string in_quotes(std::string_view name);

} // namespace nw
