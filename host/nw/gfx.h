// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace nw::cli {

// Throws Error, with a list of the targets, if --gfx names none.
void check_gfx(const std::string &gfx);
// The same for static analysis, which also supports gfx10.
void check_readable_gfx(const std::string &gfx);

// The gfx itself, or the first target of a generic one.
std::string one_gfx(const std::string &gfx);

} // namespace nw::cli
