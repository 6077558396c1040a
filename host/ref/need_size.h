// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>

#include "base/error.h"
#include "base/types.h"

namespace nw::ref {

// Throws Error unless an operand has the expected number of elements.
inline void need_size(const char *what, u64 got, u64 want) {
    if (got != want)
        throw Error(fmt::format("{} has {} elements, needs {}", what, got, want));
}

} // namespace nw::ref
