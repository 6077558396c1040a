// SPDX-License-Identifier: MIT
// NIBBLEWAVE_FORCE=<symbol>: every product of the kernel's family uses this kernel or
// fails.
#pragma once
#include <string_view>

#include "runtime/kernel.h"

namespace nw {

// The kernel with that symbol for a gfx. Throws Error if there is none; the message lists targets
// that have it or the nearest names.
const Kernel &find_forced(std::string_view symbol, std::string_view gfx);

// The kernel in NIBBLEWAVE_FORCE if it belongs to the family; null if the variable is unset, empty
// or names a kernel of another family. Throws as find_forced(). The variable is read once per
// process.
const Kernel *forced(std::string_view family, std::string_view gfx);

} // namespace nw
