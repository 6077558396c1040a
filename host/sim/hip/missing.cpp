// SPDX-License-Identifier: MIT
// Entry points of AMD's library that aren't simulated: programs that link with them load; a call
// fails with a message.
#include <fmt/format.h>

#include "sim/hip/error.h"

namespace nw::hipsim {

static int not_supported(const char *call) {
    return guarded(call, [&] {
        say(fmt::format("{} is not supported by the simulated GPU", call));
        return hipErrorNotSupported;
    });
}

} // namespace nw::hipsim

// Declared without their parameters, which the callers pass in vain.
namespace nw::hipsim::missing {
#define HIP_ENTRY(node, name)
#define HIP_MISSING(node, name)                                                                    \
    extern "C" int name##_missing() asm(#name);                                                    \
    int name##_missing() { return remember(hipError_t(not_supported(#name))); }
#include "sim/hip/entry_points.inc"
#undef HIP_ENTRY
#undef HIP_MISSING
} // namespace nw::hipsim::missing
