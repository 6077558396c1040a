// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace nw::cli {

// Throws Error, which lists the known ones, where --gfx names no target.
void check_gfx(const std::string &gfx);
// The same where code is only read: gfx10, which is not simulated, will do.
void check_readable_gfx(const std::string &gfx);

// The gfx itself, or of a generic target the first that it is for.
std::string one_gfx(const std::string &gfx);

} // namespace nw::cli
