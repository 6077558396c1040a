// SPDX-License-Identifier: MIT
// Measuring on the model under a profile.
#pragma once
#include "nw/micro/fit.h"

namespace nw::cli {

// Streams read `bytes`. What it gives throws nw::Error where the run fails.
Measure on_model(const sim::timing::Part &, u64 bytes);

} // namespace nw::cli
