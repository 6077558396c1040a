// SPDX-License-Identifier: MIT
#include "nw/inspect/text.h"

#include <fmt/format.h>

#include "base/terminal.h"

namespace nw::cli {

namespace {

// a.12.b as a.*.b: the name pattern shared by a model's layers.
std::string pattern(const std::string &name) {
    std::string out, part;
    const auto flush = [&] {
        const bool number = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
        out += number ? "*" : part;
        part.clear();
    };
    for (char c : name) {
        if (c != '.') {
            part += c;
            continue;
        }
        flush();
        out += c;
    }
    flush();
    return out;
}

} // namespace

std::string size_text(u64 bytes) {
    const f64 size = static_cast<f64>(bytes);
    if (bytes < 10'000)
        return fmt::format("{} B", bytes);
    if (bytes < 1'000'000)
        return fmt::format("{:.1f} KB", size / 1e3);
    return bytes < 1'000'000'000 ? fmt::format("{:.1f} MB", size / 1e6)
                                 : fmt::format("{:.2f} GB", size / 1e9);
}

std::string count_text(u64 count, const char *thing) {
    return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

void print_heading(const std::string &text) {
    fmt::print(heading_style(), "{}", text);
    fmt::print("\n");
}

void print_clipped(const std::string &line) {
    constexpr u64 columns = 100;
    fmt::print("{}{}\n", line.substr(0, line.size() > columns ? columns - 3 : columns),
               line.size() > columns ? "..." : "");
}

std::vector<std::string> wrapped(const std::string &line, u64 columns) {
    std::vector<std::string> out;
    std::string rest = line;
    while (rest.size() > columns) {
        const size_t space = rest.rfind(' ', columns);
        if (space == rest.npos || space <= 2) // one word
            break;
        out.push_back(rest.substr(0, space));
        rest = "  " + rest.substr(space + 1);
    }
    out.push_back(rest);
    return out;
}

void print_wrapped(const std::string &line) {
    for (const std::string &part : wrapped(line, 100))
        fmt::print("{}\n", part);
}

void Lines::add(const std::string &left, const std::string &name) {
    const std::string right = pattern(name);
    const auto [found, fresh] = place_.try_emplace(left + right, rows_.size());
    if (fresh)
        rows_.push_back({left, right, 0});
    ++rows_[found->second].count;
}

void Lines::print() const {
    for (const Row &row : rows_)
        fmt::print("{} {:>6}  {}\n", row.left, row.count, row.right);
}

} // namespace nw::cli
