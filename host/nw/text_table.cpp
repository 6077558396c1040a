// SPDX-License-Identifier: MIT
#include "nw/text_table.h"

#include <algorithm>
#include <fmt/format.h>

namespace nw::cli {

namespace {

constexpr u64 widest = 60;

std::string line(const Cells &cells, const std::vector<u64> &widths, u64 words) {
    std::string out;
    for (u64 i = 0; i < cells.size(); ++i)
        out += i < words ? fmt::format("{:<{}.{}}  ", cells[i], widths[i], widest)
                         : fmt::format("{:>{}.{}}  ", cells[i], widths[i], widest);
    return out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
}

} // namespace

std::string text(const TextTable &t) {
    std::vector<u64> widths;
    for (u64 i = 0; i < t.head.size(); ++i) {
        u64 most = t.head[i].size();
        for (const Cells &row : t.rows)
            most = std::max(most, std::min(row[i].size(), widest));
        widths.push_back(most);
    }
    std::string out = t.title + "\n\n" + line(t.head, widths, t.words);
    for (const Cells &row : t.rows)
        out += line(row, widths, t.words);
    return out + (t.below.empty() ? "" : "\n" + t.below + "\n");
}

std::string printable(std::string name) {
    for (char &c : name)
        c = static_cast<u8>(c) < ' ' || c == 0x7f ? '?' : c;
    return name.empty() ? "-" : name;
}

} // namespace nw::cli
