// SPDX-License-Identifier: MIT
// Findings that a project knows and accepts: a file with one on each line.
#pragma once
#include <string>
#include <vector>

#include "nw/check/check.h"

namespace nw::cli {

class CheckSuppressions {
public:
    // Throws nw::Error, which names the line, if the file is damaged.
    explicit CheckSuppressions(const std::string &path);
    bool covers(const CheckFinding &); // and counts it
    // Lines that covered nothing: "suppressions.txt:3: race kernel=old*".
    std::vector<std::string> unused() const;

    static std::string text_of(const std::vector<CheckFinding> &);

private:
    struct Line {
        std::string place, text;
        std::string check, rule, kernel, at; // globs; empty: any
        u64 used = 0;
    };
    static Line parse(const std::string &place, const std::string &text);
    std::vector<Line> lines_;
};

} // namespace nw::cli
