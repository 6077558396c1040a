// SPDX-License-Identifier: MIT
// Instructions that LLVM knows and that are no compute kernel's.
#pragma once
#include <string_view>

namespace nw::sim {

// What the mnemonic belongs to instead ("image", "graphics"); "" when it is compute.
std::string_view other_purpose(std::string_view mnemonic);

} // namespace nw::sim
