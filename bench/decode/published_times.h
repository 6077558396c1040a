// SPDX-License-Identifier: MIT
// Our kernels on the products of which there are published times of gfx1151.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <regex>

#include "bench/decode_times.h"

namespace nw::bench {

inline constexpr std::string_view published_gfx = "gfx1151"; // that the times are of

// Those whose name matches: none is no error. Prints a row each and what they come to.
nlohmann::json decode_published(const std::regex &only);

} // namespace nw::bench
