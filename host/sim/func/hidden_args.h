// SPDX-License-Identifier: MIT
// Code object V5's hidden arguments: properties of the launch.
#pragma once
#include <string_view>

#include "sim/func/machine.h"

namespace nw::sim {

inline bool is_hidden(const Arg &arg) { return arg.value_kind.starts_with("hidden_"); }

// HIP's workgroups are all full, so remainders are zero. Null for host services that don't exist
// here (printf, hostcall, device heap, queues): a kernel that uses one faults at address 0.
u64 hidden_value(std::string_view kind, const Dispatch &dispatch);

} // namespace nw::sim
