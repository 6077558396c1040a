// SPDX-License-Identifier: MIT
#include "base/pattern.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <mutex>
#include <regex>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/types.h"

namespace nw {

struct Pattern::Expression {
    std::regex regex;
    std::string option;
};

namespace {

struct Asked {
    std::mutex mutex;
    std::map<std::string, std::vector<std::string>, std::less<>> by_option;
};

Asked &asked() {
    static Asked &all = *new Asked;
    return all;
}

} // namespace

Pattern::Pattern(std::string_view option, const std::string &text) try
    : expression_(
          std::make_shared<const Expression>(Expression{std::regex(text), std::string(option)})) {
} catch (const std::regex_error &error) {
    throw Error(fmt::format("{} {}: not a regular expression ({})", option, text, error.what()));
}

bool Pattern::found_in(std::string_view text) const {
    {
        const std::lock_guard lock(asked().mutex);
        std::vector<std::string> &names = asked().by_option[expression_->option];
        if (std::ranges::find(names, text) == names.end())
            names.emplace_back(text);
    }
    return std::regex_search(text.begin(), text.end(), expression_->regex);
}

std::string Pattern::names(std::string_view option) {
    constexpr u64 most = 5;
    const std::lock_guard lock(asked().mutex);
    const auto found = asked().by_option.find(option);
    if (found == asked().by_option.end())
        return "";
    const std::span<const std::string> all = found->second;
    const auto shown = all.first(std::min<u64>(most, all.size()));
    return fmt::format(
        "; there are {}{}", fmt::join(shown, ", "),
        all.size() > shown.size() ? fmt::format(" and {} more", all.size() - shown.size()) : "");
}

} // namespace nw
