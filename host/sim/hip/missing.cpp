// SPDX-License-Identifier: MIT
// Entry points of AMD's library that aren't simulated: programs that link with them load; a call
// fails with a message.
#include <fmt/format.h>

#include "sim/hip/error.h"

namespace nw::hipsim {

static int not_supported(const char *call, bool has_nulls) {
    return guarded(call, [&] {
        require(!has_nulls, hipErrorInvalidValue);
        say(fmt::format("{} is not supported by the simulated GPU", call));
        return hipErrorNotSupported;
    });
}

} // namespace nw::hipsim

// Declared with two parameters at most, and called with all of them.
namespace nw::hipsim::missing {
#define HIP_ENTRY(node, name)
#define HIP_MISSING(node, name, pointers)                                                          \
    extern "C" int name##_missing(const void *a, const void *b) asm(#name);                        \
    int name##_missing(const void *a, const void *b) {                                             \
        const bool has_nulls = (pointers > 0 && !a) || (pointers > 1 && !b);                       \
        return remember(hipError_t(not_supported(#name, has_nulls)));                              \
    }
#include "sim/hip/entry_points.inc"
#undef HIP_ENTRY
#undef HIP_MISSING
} // namespace nw::hipsim::missing
