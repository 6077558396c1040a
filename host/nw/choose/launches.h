// SPDX-License-Identifier: MIT
// Output of nw choose for kernels that are launched one after the other.
#pragma once
#include <nlohmann/json.hpp>
#include <span>

#include "runtime/choose.h"

namespace nw::cli {

using Launches = std::span<const Kernel *const>;

// A row for each: registers, LDS and occupancy.
void print_resources(Launches);
nlohmann::json launches_json(Launches);

} // namespace nw::cli
