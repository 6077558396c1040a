// SPDX-License-Identifier: MIT
// Output of `nw lint` for a file: text, JSON, SARIF 2.1.0.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lint/finding.h"

namespace nw::cli {

struct LintPlace {
    std::string file; // a path where it was found, else the line table's name; "" without a table
    u32 line = 0;     // 0: not known
    std::string instruction;
    u64 offset = 0; // bytes from the kernel's beginning

    std::string text() const; // "scale.s:41", or "kernel + 0x1c"
};

struct LintRow {
    lint::Rule rule;
    std::string kernel, text, remedy;
    LintPlace place;
    bool has_other = false;
    LintPlace other; // that it clashes with
};

struct LintFile {
    std::string path, gfx;
    std::vector<LintRow> rows;
    u32 kernels = 0, suppressed = 0;
};

std::string lint_text(const LintFile &);
nlohmann::ordered_json lint_json(const std::vector<LintFile> &);
nlohmann::ordered_json lint_sarif(const std::vector<LintFile> &);

} // namespace nw::cli
