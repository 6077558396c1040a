// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace nw::cli {

// Throws Error, which lists the known ones, where --gfx names no target.
void check_gfx(const std::string &gfx);

} // namespace nw::cli
