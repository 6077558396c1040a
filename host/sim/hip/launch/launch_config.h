// SPDX-License-Identifier: MIT
// Structures of newer HIP headers than the oldest that we build with.
#pragma once
#include "base/types.h"
#include "sim/hip/headers.h"

namespace nw::hipsim {

enum LaunchAttributeId { // hipLaunchAttributeID
    launch_ignore = 0,
    launch_access_policy_window = 1,
    launch_cooperative = 2,
    launch_priority = 8,
};

struct LaunchAttribute { // hipLaunchAttribute
    int id;
    int pad;
    union {
        char bytes[64];
        int cooperative;
    } value;
};

struct LaunchConfig { // hipLaunchConfig_t
    dim3 grid, block;
    size_t dynamic_lds;
    hipStream_t stream;
    const LaunchAttribute *attributes;
    unsigned attribute_count;
};

struct DriverLaunchConfig { // HIP_LAUNCH_CONFIG
    unsigned grid[3], block[3], dynamic_lds;
    hipStream_t stream;
    const LaunchAttribute *attributes;
    unsigned attribute_count;
};

struct FunctionLaunchParams { // hipFunctionLaunchParams
    hipFunction_t function;
    unsigned grid[3], block[3], dynamic_lds;
    hipStream_t stream;
    void **params;
};

} // namespace nw::hipsim
