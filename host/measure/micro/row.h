// SPDX-License-Identifier: MIT
// One measured number and its raw data.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::micro {

struct Row {
    std::string name; // "v_add_f32 dependent"; the same on every device
    std::string unit; // "cycles", "GB/s"
    f64 value = 0;    // median
    f64 low = 0, high = 0;
    f64 offset = 0;   // cycles that the first step takes beyond `value`; 0 where it has no meaning
    std::string from; // derivation of the value, for people
    std::map<u32, std::vector<u32>>
        clocks; // steps in a row -> raw cycles of each pass; may be empty

    bool operator==(const Row &) const = default;
};

} // namespace nw::micro
