// SPDX-License-Identifier: MIT
// Versions of HIP, Linux and firmware that are reported to hang or to corrupt data.
#pragma once
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::hip {

struct Platform {
    std::string gfx;    // "gfx1151"
    int hip = 0;        // hipRuntimeGetVersion: 70226015 is 7.2.26015; 0: unknown
    std::string system; // uname's release, "6.17.0-1004-oem"; empty: unknown
    u32 mes = 0;        // firmware version of the scheduler; 0: unknown
};

// "7.2.26015".
std::string hip_version_text(int version);

struct KnownFault {
    const char *row; // of A-030
    std::string text;
};
// Faults of A-030 that name these versions.
std::vector<KnownFault> known_faults(const Platform &);

} // namespace nw::hip
