// SPDX-License-Identifier: MIT
// Instructions that LLVM disassembles but compute kernels don't use.
#pragma once
#include <string_view>

namespace nw::sim {

// The mnemonic's non-compute category ("image", "graphics"); "" if it is compute.
std::string_view other_purpose(std::string_view mnemonic);

} // namespace nw::sim
