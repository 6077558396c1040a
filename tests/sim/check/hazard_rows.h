// SPDX-License-Identifier: MIT
// The five cases of a hazard, made of its halves: the hazard, the same without a clash, what
// resolves it, the halves in different blocks, and what looks like a remedy.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::sim::test {

using Targets = std::vector<std::string>;

// The second half clashes with the first, unless the remedy stands between. Where waits have other
// names on gfx12, "loads 0", "stores 0" and "lds 0" stand for them.
struct Row {
    const char *note;
    Targets targets, others; // where it strikes, where it doesn't
    u32 wave;
    const char *first, *second;
    const char *apart; // both halves, without the conflict
    const char *remedy, *wrong;
};

// The findings in a body on a target: text with the note, or "".
using Finder = std::string (*)(const Row &, const std::string &gfx, const std::string &body);
void check_five_cases(std::span<const Row>, Finder);

} // namespace nw::sim::test
