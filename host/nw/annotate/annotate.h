// SPDX-License-Identifier: MIT
// The HTML page of `nw annotate`.
#pragma once
#include <string>

#include "nw/advice/advice.h"
#include "nw/launch.h"
#include "sim/timing/files/annotate.h"

namespace nw::cli {

// Self-contained: no scripts, no external files. Supports light and dark schemes.
std::string html_page(const Launch &, const sim::timing::Result &, const sim::timing::Annotation &,
                      const Advised &);

} // namespace nw::cli
