// SPDX-License-Identifier: MIT
// What nw tune runs on, whatever the family: shapes and devices.
#pragma once
#include <set>
#include <string>
#include <utility>

#include "base/types.h"
#include "hip/hip.h"

namespace nw::cli {

// (n, k) of the dense layers of a CSV file. Throws Error where it has none.
std::set<std::pair<u32, u32>> dense_shapes(const std::string &file);

// What the model calls itself, which says that it is simulated. Call it before a device is opened.
std::string model_name(const std::string &gfx);

// Throws Error where the card is another than --gfx says.
void need_gfx(const hip::Device &, const std::string &gfx);

} // namespace nw::cli
