// SPDX-License-Identifier: MIT
#include "formats/claims/layer_rules.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <regex>

#include "base/error.h"
#include "formats/safetensors/json.h"

namespace nw {

namespace {

constexpr size_t longest = 4096; // of a pattern or a name: matching takes their product

constexpr std::array<std::string_view, 8> wrappers = {
    "model", "language_model", "text_model", "llm", "thinker", "transformer", "backbone", "module"};

// The names that begin so, where an expression is plain text and escaped dots: most are, and there
// may be one for each of thousands of layers.
std::optional<std::string> plain_text(std::string_view pattern) {
    std::string out;
    for (size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (c == '\\' && i + 1 < pattern.size() && pattern[i + 1] == '.')
            out += pattern[++i];
        else if (std::string_view("\\.^$*+?()[]{}|").find(c) != std::string_view::npos)
            return std::nullopt;
        else
            out += c;
    }
    return out;
}

// Its time grows with the product of both lengths: an expression from a file can't hang.
std::regex compiled(const std::string &text, const std::string &where) {
    if (text.size() > longest)
        throw Error(fmt::format("{}: a pattern of {} characters: at most {} are read", where,
                                text.size(), longest));
    try {
        return std::regex(text, std::regex::ECMAScript | std::regex_constants::__polynomial);
    } catch (const std::regex_error &e) {
        throw Error(fmt::format("{}: {} can't be read as a regular expression ({}): write it "
                                "without what only Python's have",
                                where, in_quotes(text), e.what()));
    }
}

} // namespace

struct LayerPattern::Expression {
    std::regex regex;
};

std::string plain_path(std::string_view path) {
    std::string out;
    while (!path.empty()) {
        const size_t dot = std::min(path.find('.'), path.size());
        const std::string_view part = path.substr(0, dot);
        path.remove_prefix(std::min(dot + 1, path.size()));
        if (std::ranges::find(wrappers, part) == wrappers.end())
            out += (out.empty() ? "" : ".") + std::string(part);
    }
    return out;
}

LayerPattern LayerPattern::path(std::string_view text) {
    LayerPattern out;
    out.text_ = plain_path(text);
    return out;
}

LayerPattern LayerPattern::regex(const std::string &text, const std::string &where) {
    LayerPattern out;
    if (const auto begin = plain_text(text)) {
        out.kind_ = Kind::begin;
        out.text_ = *begin;
        return out;
    }
    out.kind_ = Kind::regex;
    out.text_ = text;
    out.expression_ = std::make_shared<Expression>(compiled(text, where));
    return out;
}

LayerPattern LayerPattern::glob(std::string_view text) {
    if (text.find_first_of("*?") == text.npos)
        return path(text);
    LayerPattern out;
    out.kind_ = Kind::regex;
    for (char c : text) {
        if (c == '*')
            out.text_ += ".*";
        else if (c == '?')
            out.text_ += '.';
        else if (std::string_view(".\\^$+()[]{}|/").find(c) == std::string_view::npos)
            out.text_ += c;
        else
            out.text_ += std::string("\\") + c;
    }
    out.text_ += '$';
    const std::string where(text.substr(0, 80));
    out.expression_ = std::make_shared<Expression>(compiled(out.text_, where));
    return out;
}

bool LayerPattern::matches(const std::string &name) const {
    switch (kind_) {
    case Kind::path:
        return plain_path(name) == text_;
    case Kind::begin:
        return name.starts_with(text_) || plain_path(name).starts_with(plain_path(text_));
    case Kind::regex:
        break;
    }
    const std::string plain = plain_path(name);
    return std::ranges::any_of(
        std::array{name, plain, "model." + plain, "model.language_model." + plain}, [&](auto &way) {
            return way.size() <= longest &&
                   std::regex_search(way, expression_->regex,
                                     std::regex_constants::match_continuous);
        });
}

} // namespace nw
