// SPDX-License-Identifier: MIT
// The catalogue: every kernel of the build and every tuned shape; both are generated.
#pragma once
#include <span>
#include <string_view>

#include "runtime/contract.h"
#include "runtime/kernel.h"

namespace nw {

std::span<const Kernel> kernels();

// The kernel with that symbol for a gfx; null if this build has none.
const Kernel *find_kernel(std::string_view gfx, std::string_view symbol);

// A tuned shape and its result. Times are microseconds with cold weights.
struct Tuned {
    u32 n, k;
    const Kernel *kernel;
    f64 us;                // its time
    std::string_view next; // the second best, which may be missing in this build
    f64 next_us, default_us;
    std::string_view by; // "AMD Radeon 8060S (sim)", or a card
};

// A row of gen/tuning, for products with m rows of activations.
struct TunedRow {
    std::string_view gfx, family, kernel; // family: the name of a table, Family::tuning
    u32 m = 0;
    Tuned shape; // without its kernel
};
std::span<const TunedRow> tuned_rows();

} // namespace nw
