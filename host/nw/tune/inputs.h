// SPDX-License-Identifier: MIT
// Inputs of nw tune for all families: shapes and devices.
#pragma once
#include <set>
#include <string>
#include <utility>

#include "base/types.h"
#include "hip/hip.h"

namespace nw::cli {

// (n, k) of the dense layers of a CSV file. Throws Error if it has none.
std::set<std::pair<u32, u32>> dense_shapes(const std::string &file);

// Name of the model, marked as simulated. Call it before a device is opened.
std::string model_name(const std::string &gfx);

// Throws Error if the card is not of --gfx.
void need_gfx(const hip::Device &, const std::string &gfx);

} // namespace nw::cli
