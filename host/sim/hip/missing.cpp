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

// hiprtc has its own codes.
static int no_compiler(const char *call) {
    constexpr int internal_error = 11; // HIPRTC_ERROR_INTERNAL_ERROR
    not_supported(call);
    return internal_error;
}

} // namespace nw::hipsim

// Declared without their parameters, which the callers pass in vain.
namespace nw::hipsim::missing {
#define HIP_ENTRY(node, name)
#define HIP_MISSING(node, name)                                                                    \
    extern "C" int name##_missing() asm(#name);                                                    \
    int name##_missing() { return remember(hipError_t(not_supported(#name))); }
#define HIPRTC_MISSING(node, name)                                                                 \
    extern "C" int name##_missing() asm(#name);                                                    \
    int name##_missing() { return no_compiler(#name); }
#include "sim/hip/entry_points.inc"
#undef HIP_ENTRY
#undef HIP_MISSING
#undef HIPRTC_MISSING
} // namespace nw::hipsim::missing
