// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace nw {

// The parts of a text between separators, empty ones included: one more than there are separators.
inline std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (size_t at = 0, end = 0; at <= text.size(); at = end + 1) {
        end = std::min(text.find(separator, at), text.size());
        parts.emplace_back(text.substr(at, end - at));
    }
    return parts;
}

} // namespace nw
