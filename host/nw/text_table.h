// SPDX-License-Identifier: MIT
// Tables of text for a terminal.
#pragma once
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::cli {

using Cells = std::vector<std::string>;

struct TextTable {
    std::string title, below;
    Cells head;
    u64 words; // text columns come first, left-aligned
    std::vector<Cells> rows;
};

// Columns as wide as their cells, up to 60 characters: names may be very long.
std::string text(const TextTable &);

// A name from a file, which may hold anything, without control characters; "-" for "".
std::string printable(std::string name);

} // namespace nw::cli
