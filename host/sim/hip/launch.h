// SPDX-License-Identifier: MIT
#pragma once
#include "base/types.h"
#include "sim/hip/headers.h"

namespace nw::hipsim {

struct LaunchShape {
    dim3 grid; // workgroups
    dim3 block;
    u64 dynamic_lds = 0;
};

// Checks, packs the arguments, and queues the kernel. What the kernel does wrong comes out of the
// next call that waits for it.
hipError_t launch(hipFunction_t function, const LaunchShape &shape, hipStream_t stream,
                  void **params, void **extra);

} // namespace nw::hipsim
