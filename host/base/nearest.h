// SPDX-License-Identifier: MIT
// Names near one that is unknown, for messages.
#pragma once
#include <string_view>
#include <vector>

#include "base/types.h"

namespace nw {

// The `count` names with the fewest letters to change, add or take away, nearest first.
std::vector<std::string_view> nearest(std::string_view name, std::vector<std::string_view> names,
                                      u64 count);

} // namespace nw
