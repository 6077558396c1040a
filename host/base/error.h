// SPDX-License-Identifier: MIT
#pragma once
#include <stdexcept>
#include <string>

namespace nw {

// What a caller did wrong or the machine could not give. The text names the value, the rule it
// broke and, where there is one, the remedy. Rooms derive their own (hip::Error, sim::Fault).
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace nw
