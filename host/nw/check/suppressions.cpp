// SPDX-License-Identifier: MIT
#include "nw/check/suppressions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "nw/code_object.h"

namespace nw::cli {

namespace {

constexpr const char *first_line =
    "# nw check --suppressions: CHECK[.RULE] [kernel=GLOB] [at=GLOB]; at: FILE:LINE, or FUNCTION + "
    "OFFSET\n";

std::string trimmed(const std::string &text) {
    const size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
    return begin == text.npos ? "" : text.substr(begin, end - begin + 1);
}

bool matches(const std::string &glob, const std::string &text) {
    return glob.empty() || fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

// Builds in other folders have other paths.
std::string at_of(const CheckFinding &f) {
    if (f.at.frames.empty())
        return f.at.place;
    const SourceFrame &frame = f.at.frames[0];
    return fmt::format("{}:{}", std::filesystem::path(frame.file).filename().string(), frame.line);
}

// Names of template instances have characters that globs give a meaning.
std::string escaped(const std::string &text) {
    std::string out;
    for (const char c : text) {
        if (c == '*' || c == '?' || c == '[' || c == '\\')
            out += '\\';
        out += c;
    }
    return out;
}

} // namespace

CheckSuppressions::CheckSuppressions(const std::string &path) {
    std::istringstream in(read_text(path));
    std::string text;
    for (u32 number = 1; std::getline(in, text); ++number)
        if (text = trimmed(text); !text.empty() && text[0] != '#')
            lines_.push_back(parse(fmt::format("{}:{}", path, number), text));
}

// Values may contain spaces: a key begins where " kernel=" or " at=" does.
CheckSuppressions::Line CheckSuppressions::parse(const std::string &place,
                                                 const std::string &text) {
    const auto refuse = [&](const std::string &why) {
        return Error(fmt::format("--suppressions {}: {}: {}; a line is CHECK[.RULE] [kernel=GLOB] "
                                 "[at=GLOB]",
                                 place, text, why));
    };
    Line line{place, text, {}, {}, {}, {}, 0};
    const size_t kernel = text.find(" kernel="), at = text.find(" at=");
    const std::string head = trimmed(text.substr(0, std::min(kernel, at)));
    const std::string what = head.substr(0, head.find(' '));
    const size_t dot = std::min(what.find('.'), what.size());
    line.check = what.substr(0, dot);
    line.rule = what.substr(std::min(dot + 1, what.size()));
    constexpr std::string_view checks[] = {"mem", "init", "wait", "race", "leak", "fault", "*"};
    if (std::ranges::find(checks, line.check) == std::end(checks))
        throw refuse(fmt::format("'{}' is none of {}", line.check, fmt::join(checks, ", ")));
    if (what != head)
        throw refuse(fmt::format("'{}' is neither kernel= nor at=", head.substr(what.size() + 1)));
    const auto value = [&](size_t begin, size_t key, size_t next) {
        if (begin == text.npos)
            return std::string();
        const size_t end = next != text.npos && next > begin ? next : text.size();
        std::string out = trimmed(text.substr(begin + key, end - begin - key));
        if (out.empty())
            throw refuse("a value is empty");
        return out;
    };
    line.kernel = value(kernel, 8, at);
    line.at = value(at, 4, kernel);
    return line;
}

bool CheckSuppressions::covers(const CheckFinding &f) {
    for (Line &line : lines_)
        if (matches(line.check, f.check) && matches(line.rule, f.rule) &&
            matches(line.kernel, f.kernel) && matches(line.at, at_of(f))) {
            ++line.used;
            return true;
        }
    return false;
}

std::vector<std::string> CheckSuppressions::unused() const {
    std::vector<std::string> out;
    for (const Line &line : lines_)
        if (!line.used)
            out.push_back(fmt::format("{}: {}", line.place, line.text));
    return out;
}

std::string CheckSuppressions::text_of(const std::vector<CheckFinding> &findings) {
    std::string out = first_line;
    for (const CheckFinding &f : findings)
        out +=
            fmt::format("{} kernel={} at={}\n", rule_id(f), escaped(f.kernel), escaped(at_of(f)));
    return out;
}

} // namespace nw::cli
