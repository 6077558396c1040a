// SPDX-License-Identifier: MIT
// How much of each kernel check_kernels checks.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "runtime/kernel.h"

namespace nw::check {

enum class Extent {
    none,  // the same code is checked on another target
    entry, // one launch, of a small shape
    full,
};

using Extents = std::map<const Kernel *, Extent>; // absent kernels: full

// One kernel of each group of equal code (check/same_code.h) is checked in full, the others by one
// launch. Without checkers also a kernel whose code equals another group's apart from waits.
Extents extents_of(std::span<const std::vector<const Kernel *>> groups, bool checkers);

// The default tier of tests. In full: kernels that together walk every path of their templates
// (build/asm/<gfx>/<family>.cover, written by gen/cover.py), on one target of each series. By one
// launch: the others there, and where a target's code differs from that of its series. Kernels that
// are not the library's, and code that is the same as another target's: not at all.
Extents extents_of_cover(std::span<const std::vector<const Kernel *>> groups, bool checkers);

} // namespace nw::check
