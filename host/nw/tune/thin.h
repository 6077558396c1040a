// SPDX-License-Identifier: MIT
// Which rows of a section of gen/tuning say something that the others, and the default, do not.
#pragma once
#include "nw/tune/tuning_table.h"

namespace nw::cli {

// TuningTable::thin() of one section.
TunedShapes thinned(TunedShapes, f64 least_gain);

} // namespace nw::cli
