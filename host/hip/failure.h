// SPDX-License-Identifier: MIT
#pragma once
#include "hip/hip.h"

namespace nw::hip {

// Whether an error is of a device or its library at work, not that the requested device is not
// there (see open.cpp).
inline bool is_failure(const nw::Error &error) {
    const auto *of_hip = dynamic_cast<const Error *>(&error);
    return of_hip && of_hip->call != "Device" && of_hip->name != "hipErrorNoDevice";
}

} // namespace nw::hip
