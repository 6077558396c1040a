// SPDX-License-Identifier: MIT
// Programs that clang -x hip compiled: they register their fat binary and kernels before main, and
// launch by the address of the kernel's host stub.
#pragma once
#include "sim/hip/headers.h"

namespace nw::hipsim {

// The kernel behind a host stub, on the current device; its module is loaded at the first call.
// Fails with hipErrorInvalidDeviceFunction for an address that nobody registered.
hipFunction_t compiled_function(const void *host_function);

} // namespace nw::hipsim
