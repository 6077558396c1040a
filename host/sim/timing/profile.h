// SPDX-License-Identifier: MIT
// A file of measured constants that replace ours, by name: what HIPSIM_PROFILE loads and
// `nw micro --fit` writes.
//   {"schema": "nibblewave.profile.v1", "part": "8060S",
//    "constants": {"l2_latency": 220}, "facts": {"shader_mhz": 2900}}
#pragma once
#include <map>
#include <string>

#include "sim/timing/costs.h"
#include "sim/timing/part.h"

namespace nw::sim::timing {

struct Profile {
    std::string part;                     // whose constants these are
    std::map<std::string, f64> constants; // rows of costs.inc
    std::map<std::string, f64> facts;     // rows of parts.inc

    bool operator==(const Profile &) const = default;
};

// Both throw nw::Error, which names the file, the key, the value, the rule and the remedy.
Profile read_profile(const std::string &path);
Profile parse_profile(std::string_view text, std::string_view file);

void write_profile(const std::string &path, const Profile &profile);

// Overrides what the profile names. False, and nothing done, if it is another part's.
bool apply(const Profile &profile, Part &part, Costs &costs);

} // namespace nw::sim::timing
