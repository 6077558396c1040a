// SPDX-License-Identifier: MIT
// Measuring on the model under a profile.
#pragma once
#include "nw/micro/fit.h"

namespace nw::cli {

// Streams read `bytes`. The returned function throws nw::Error if the run fails.
Measure on_model(const sim::timing::Part &, u64 bytes);

} // namespace nw::cli
