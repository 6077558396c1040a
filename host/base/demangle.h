// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace nw {

// "scale(float*)" of _Z5scalePf; the symbol itself if it is not a C++ name.
std::string demangled(const std::string &symbol);

} // namespace nw
