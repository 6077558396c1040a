// SPDX-License-Identifier: MIT
// Code object V5's hidden arguments: properties of the launch.
#pragma once
#include <string>
#include <string_view>

#include "sim/func/machine.h"

namespace nw::sim {

// HIP's workgroups are all full, so remainders are zero. Null for what the caller must provide.
u64 hidden_value(std::string_view kind, const Dispatch &dispatch);

// The hidden pointers of the launch's arguments that are null, with what that means; for the report
// of a null pointer. "" if there is none.
std::string null_services(const Dispatch &dispatch);

} // namespace nw::sim
