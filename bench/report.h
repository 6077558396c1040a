// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace nw::bench {

// A page of a file that --json wrote, by bench/report.py. Throws Error where no Python here has
// matplotlib.
void write_report(const std::string &json, const std::string &html);

} // namespace nw::bench
