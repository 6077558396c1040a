// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace nw {

// Why a file can't be written, or "": to be asked before the work. Creates nothing.
std::string unwritable(const std::string &path);
void need_writable(const std::string &path); // throws Error with that

} // namespace nw
