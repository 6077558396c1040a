// SPDX-License-Identifier: MIT
// Measures on the model with a profile, in a subprocess of this program, because the simulated
// library reads its profile when it is opened.
#pragma once
#include "nw/micro/fit.h"

namespace nw::cli {

// Streams read `bytes`. The returned function throws nw::Error if the run fails.
Measure on_model(const sim::timing::Part &, u64 bytes);

} // namespace nw::cli
