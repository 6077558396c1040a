// SPDX-License-Identifier: MIT
// What `nw annotate` shows, as one HTML page.
#pragma once
#include <string>

#include "nw/launch.h"
#include "sim/timing/annotate.h"

namespace nw::cli {

// Self-contained: no scripts, no files of others. For a browser's light and dark schemes.
std::string html_page(const Launch &, const sim::timing::Result &, const sim::timing::Annotation &);

} // namespace nw::cli
