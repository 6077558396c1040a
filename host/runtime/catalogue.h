// SPDX-License-Identifier: MIT
// The catalogue: the kernels that the contracts list for a target, with the registers and LDS of
// those that are built; and every tuned shape. Thread-safe.
#pragma once
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/contract.h"
#include "runtime/kernel.h"

namespace nw {

// Every kernel for a target. The first call reads the resources of those that are built. Throws
// Error for an unknown gfx or a file of resources that can't be understood.
std::span<const Kernel> kernels(std::string_view gfx);

// The kernel with that symbol for a gfx; null if there is none.
const Kernel *find_kernel(std::string_view gfx, std::string_view symbol);

// The targets that have a kernel with that symbol.
std::vector<std::string_view> targets_with(std::string_view symbol);

// Makes the first call of kernels() read the resources in `directory`, which has <gfx>/. If another
// directory was read before, its kernels are used: throws Error if those in `directory` differ.
void read_kernels(std::string_view gfx, const std::filesystem::path &directory);

// Throws Error if the kernel is not built; the message says how to.
[[noreturn]] void refuse_unbuilt(const Kernel &);
inline void need_built(const Kernel &kernel) {
    if (!kernel.built) [[unlikely]]
        refuse_unbuilt(kernel);
}

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
