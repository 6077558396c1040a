// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace nw {

// Reason why a file can't be written, or ""; call it before the work. Creates nothing.
std::string unwritable(const std::string &path);
void need_writable(const std::string &path); // throws Error with that

} // namespace nw
