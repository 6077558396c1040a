// SPDX-License-Identifier: MIT
#pragma once
#include <stdexcept>
#include <string>

namespace nw {

// A caller's mistake or a missing resource. The text names the value, the violated rule and, if
// there is one, the remedy. Subsystems derive their own (hip::Error, sim::Fault).
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace nw
