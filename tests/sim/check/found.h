// SPDX-License-Identifier: MIT
// Findings in a kernel: one test program uses the simulator's check, another one the lint.
#pragma once
#include <string>
#include <vector>

#include "base/types.h"
#include "sim/check/hazard_rows.h"

namespace nw::sim::test {

// In a kernel of these lines, whose v0 is the work-item, v1 4 * v0 and s[2:3] a buffer: "wait: ..."
// with a hazard's note or what is wrong with a register, and the remedy; "" where nothing is.
std::string found_in(const std::string &gfx, u32 wave, const std::string &body);

// The same as a Finder.
inline std::string found_in_row(const Row &r, const std::string &gfx, const std::string &body) {
    return found_in(gfx, r.wave, body);
}

} // namespace nw::sim::test
