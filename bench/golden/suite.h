// SPDX-License-Identifier: MIT
// The suite `golden`: the catalogue against bench/golden.
#pragma once
#include "bench/options.h"

namespace nw::bench {

// Measures, prints what changed, and with --update-golden writes it. False where a kernel got
// worse, came or went, and nothing was written.
bool run_golden(const Options &);

} // namespace nw::bench
