// SPDX-License-Identifier: MIT
// NIBBLEWAVE_FORCE=<symbol>: every product that the kernel's family can have gets this kernel, or
// fails.
#pragma once
#include <string_view>

#include "runtime/kernel.h"

namespace nw {

// The kernel of that name for a gfx. Throws Error where there is none: the gfx that have it, or the
// names nearest to it.
const Kernel &find_forced(std::string_view symbol, std::string_view gfx);

// The kernel that NIBBLEWAVE_FORCE names, if it is of the family; null where the variable is unset,
// empty, or names a kernel of another family, which decides nothing here. Throws as find_forced.
// The variable is read once, at the first call of the process.
const Kernel *forced(std::string_view family, std::string_view gfx);

} // namespace nw
