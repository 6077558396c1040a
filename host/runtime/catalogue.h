// SPDX-License-Identifier: MIT
// The catalogue: every kernel file of the build, and what was tuned (both made by gen).
#pragma once
#include <span>
#include <string_view>

#include "runtime/contract.h"
#include "runtime/kernel.h"

namespace nw {

std::span<const Kernel> kernels();

// The kernel of that name for a gfx; null where this build has none.
const Kernel *find_kernel(std::string_view gfx, std::string_view symbol);

// A shape that was tuned, and what came out. Times are microseconds, weights cold.
struct Tuned {
    u32 n, k;
    const Kernel *kernel;
    f64 us;                // its time
    std::string_view next; // the best of the others, which need not be in this build
    f64 next_us, default_us;
    std::string_view by; // "AMD Radeon 8060S (sim)", or a card
};

// A row of gen/tuning, for the product of m rows of activations.
struct TunedRow {
    std::string_view gfx, family, kernel; // family: the name of a table, Family::tuning
    u32 m = 0;
    Tuned shape; // without its kernel
};
std::span<const TunedRow> tuned_rows();

} // namespace nw
