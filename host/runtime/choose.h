// SPDX-License-Identifier: MIT
// Which kernel an op gets: the one that NIBBLEWAVE_FORCE names, else that of the nearest shape that
// was tuned for as many rows or up to twice as many (gen/tuning/<gfx>.toml), else the one of least
// cost by the contracts. Any number of threads may call it; it allocates nothing but at its first
// call.
#pragma once
#include <string>
#include <vector>

#include "runtime/catalogue.h"
#include "runtime/op.h"

namespace nw {

// A tuned shape further away than this, in octaves of n and k, decides nothing.
inline constexpr f64 farthest = 1;

struct Choice {
    enum class Why : u8 { forced, tuned, near, untuned };
    const Kernel *kernel;
    Why why;
    const Tuned *tuned = nullptr; // the shape that decided, where one did
    f64 distance = 0;             // to it, in octaves
};

// Sizes that an op of this kind can't have; throws Refusal, in the name of the op's contract or of
// the family that such ops go to, which it gives: step() need not do it again.
const Family *check_shape(const Op &);

// check_shape() holds. Throws Error where there is no such kernel, listing what there is, or where
// NIBBLEWAVE_FORCE names one that does not fit.
Choice explain(std::string_view gfx, const Op &);
const Kernel &choose(std::string_view gfx, const Op &);

// By cost, whatever was tuned or forced: of all, or of these kernels for the op.
const Kernel &cheapest(std::string_view gfx, const Op &);
const Kernel *cheapest(std::span<const Kernel *const>, const Op &);

// Of the kernel's family the one of least cost that takes the op as what is left of a larger one.
const Kernel *cheapest_of_family(const Kernel &, const Op &);

// Every kernel that takes the op; with those that are kept to be compared with and never chosen.
enum class References : u8 { without, with };
std::vector<const Kernel *> kernels_for(std::string_view gfx, const Op &,
                                        References = References::without);

// Whether the kernel's parameters are those of the op, and its family's region has it.
bool matches(const Kernel &, const Op &);
// As matches, and it does as many rows.
bool takes(const Kernel &, const Op &);

// "bf16 g128 zp m8": the op's values that a family's kernels are told apart by.
std::string kind_label(const Family &, const Op &);

// The machine that choices are made for: the largest part of the kernel's target. Which kernel is
// chosen, and so which bits come out, depends on no more of a device than its target.
Machine usual_machine(std::string_view gfx);

} // namespace nw
