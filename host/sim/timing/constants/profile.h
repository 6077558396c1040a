// SPDX-License-Identifier: MIT
// A file of measured constants that override the defaults by name: read by HIPSIM_PROFILE, written
// by `nw micro --fit`.
//   {"schema": "nibblewave.profile.v1", "part": "8060S",
//    "constants": {"l2_latency": 220}, "facts": {"shader_mhz": 2900}}
#pragma once
#include <map>
#include <string>

#include "sim/timing/constants/costs.h"
#include "sim/timing/constants/part.h"

namespace nw::sim::timing {

struct Profile {
    std::string part;                     // the part that was measured
    std::map<std::string, f64> constants; // rows of costs.inc
    std::map<std::string, f64> facts;     // rows of parts.inc

    bool operator==(const Profile &) const = default;
};

// Both throw nw::Error, which names file, key, value, rule and remedy.
Profile read_profile(const std::string &path);
Profile parse_profile(std::string_view text, std::string_view file);

void write_profile(const std::string &path, const Profile &profile);

// Applies the profile's values. Returns false, changing nothing, if it is for another part.
bool apply(const Profile &profile, Part &part, Costs &costs);

} // namespace nw::sim::timing
