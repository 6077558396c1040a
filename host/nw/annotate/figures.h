// SPDX-License-Identifier: MIT
// Sections of the page about the launch as a whole, as HTML.
#pragma once
#include <string>

#include "nw/launch.h"

namespace nw::cli {

// How busy each unit was.
std::string units_html(const Launch &, const sim::timing::Result &);
// How many waves of the kernel a SIMD can hold, by each resource.
std::string occupancy_html(const Launch &, const sim::timing::Result &);
// Operations per second against operations per byte of DRAM.
std::string roofline_html(const Launch &, const sim::timing::Result &);
extern const char *const figures_style;

} // namespace nw::cli
