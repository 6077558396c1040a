// SPDX-License-Identifier: MIT
// What each idea in decode_w4a16 is worth: times and slots with it and without.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <regex>

namespace nw::bench {

// Prints a row for each idea, type and shape whose name matches. None is no error.
nlohmann::json decode_ablations(const std::regex &only);

} // namespace nw::bench
