// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

#include "base/types.h"

namespace nw {

// How the range of a group is chosen: that of its weights, or the one among several with the least
// squared error, which clips the largest weights.
enum class Clip : u8 { none, mse };

constexpr std::string_view name(Clip c) { return c == Clip::mse ? "mse" : "none"; }

} // namespace nw
