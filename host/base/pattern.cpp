// SPDX-License-Identifier: MIT
#include "base/pattern.h"

#include <fmt/format.h>
#include <regex>

#include "base/error.h"

namespace nw {

struct Pattern::Expression {
    std::regex regex;
};

Pattern::Pattern(std::string_view option, const std::string &text) try
    : expression_(std::make_shared<const Expression>(Expression{std::regex(text)})) {
} catch (const std::regex_error &error) {
    throw Error(fmt::format("{} {}: not a regular expression ({})", option, text, error.what()));
}

bool Pattern::found_in(std::string_view text) const {
    return std::regex_search(text.begin(), text.end(), expression_->regex);
}

} // namespace nw
