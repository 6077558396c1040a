// SPDX-License-Identifier: MIT
// Config files of models, which Python's json writes and reads.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/types.h"

namespace nw {

// JSON as Python's json takes it: of a key that an object has twice the last one counts, and NaN,
// Infinity and -Infinity are numbers, as is one that overflows. Throws Error: no JSON in UTF-8, or
// nested deeper than 64 levels.
nlohmann::json parse_python_json(std::string_view text, const std::string &what);
nlohmann::json python_json_file(const std::filesystem::path &);

// The text that Python's json writes for it, these numbers included.
std::string python_json_text(nlohmann::json);

} // namespace nw
