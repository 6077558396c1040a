// SPDX-License-Identifier: MIT
// Text output of nw inspect, common to all file formats.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::cli {

std::string size_text(u64 bytes); // 17 B, 36.9 KB, 1.2 MB, 3.45 GB

std::string count_text(u64 count, const char *thing); // 1 file, 2 files

void print_heading(const std::string &text);
void print_clipped(const std::string &line); // to 100 columns: metadata may be a whole template
// The line divided at spaces; continued lines are indented.
std::vector<std::string> wrapped(const std::string &line, u64 columns);
void print_wrapped(const std::string &line); // to 100 columns

// Merges lines that differ only in numbers, in order of first appearance.
class Lines {
public:
    // The name's numbers are left out: a.12.b is a.*.b.
    void add(const std::string &left, const std::string &name);
    void print() const;

private:
    struct Row {
        std::string left, right;
        u64 count;
    };
    std::vector<Row> rows_;
    std::map<std::string, size_t> place_;
};

} // namespace nw::cli
