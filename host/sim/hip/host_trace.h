// SPDX-License-Identifier: MIT
// Call stacks of the host program, for nw check.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace nw::hipsim {

using HostTrace = std::vector<void *>; // return addresses, innermost first; none of this library

HostTrace host_trace();
// Modules and the addresses in them, as linked, with symbols that the dynamic linker knows.
nlohmann::ordered_json json_of(const HostTrace &);

} // namespace nw::hipsim
