// SPDX-License-Identifier: MIT
// Selects a kernel for an op: the one in NIBBLEWAVE_FORCE; else that of the nearest shape tuned for
// between m and 2m rows (gen/tuning/<gfx>.toml); else the one with the least cost in the contracts.
// Thread-safe. Allocates only in the first call.
#pragma once
#include <string>
#include <vector>

#include "runtime/catalogue.h"
#include "runtime/nearest_shape.h"
#include "runtime/op.h"

namespace nw {

struct Choice {
    enum class Why : u8 { forced, tuned, near, untuned };
    const Kernel *kernel;
    Why why;
    const Tuned *tuned = nullptr; // the tuned shape used, or null
    f64 distance = 0;             // to it, in octaves
};

// Checks sizes against the op's contract, or that of the family serving the op. Throws Refusal.
// Returns that family, so that step() need not check again.
const Family *check_shape(const Op &);

// Requires check_shape(). Throws Error if no kernel fits (the message lists the available ones) or
// if the kernel in NIBBLEWAVE_FORCE does not fit.
Choice explain(std::string_view gfx, const Op &);
const Kernel &choose(std::string_view gfx, const Op &);

// Least cost among all kernels for the op, or among these; ignores tuning and NIBBLEWAVE_FORCE.
const Kernel &cheapest(std::string_view gfx, const Op &);
const Kernel *cheapest(std::span<const Kernel *const>, const Op &);

// Least cost in the kernel's family for the op as the last slice of a larger op.
const Kernel *cheapest_of_family(const Kernel &, const Op &);

// True if there are kernels for the op's parameters, in this build or not, and its sizes fit their
// contract. For ops that else are another one; throws nothing.
bool is_served(std::string_view gfx, const Op &);

// Every kernel that takes the op; `with`: also baselines and ablations, which are never chosen.
enum class References : u8 { without, with };
std::vector<const Kernel *> kernels_for(std::string_view gfx, const Op &,
                                        References = References::without);

// True if the kernel's parameters match the op and the op is in its family's region.
bool matches(const Kernel &, const Op &);
// matches(), and the kernel supports op.m rows.
bool takes(const Kernel &, const Op &);

// "bf16 g128 zp m8": the op's values that select a kernel of the family.
std::string kind_label(const Family &, const Op &);

// The machine used for choices: the largest part of the target. So the chosen kernel, and with it
// the bits of the result, depends only on a device's target.
Machine usual_machine(std::string_view gfx);

} // namespace nw
