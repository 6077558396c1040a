// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>
#include <regex>
#include <string>

#include "base/error.h"

namespace nw::cli {

// The regular expression of --only; throws Error if it is invalid.
inline std::regex only_pattern(const std::string &text) {
    try {
        return std::regex(text);
    } catch (const std::regex_error &error) {
        throw Error(fmt::format("--only {}: not a regular expression ({})", text, error.what()));
    }
}

} // namespace nw::cli
