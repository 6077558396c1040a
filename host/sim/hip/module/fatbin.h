// SPDX-License-Identifier: MIT
// Programs that clang -x hip compiled: they register their fat binary and kernels before main, and
// launch by the address of the kernel's host stub.
#pragma once
#include "sim/hip/headers.h"
#include "sim/hip/launch/kernel_call.h"
#include "sim/isa/image/program.h"

namespace nw::hipsim {

class Runtime;

// The kernel behind a host stub, on the current device; its module is loaded at the first call.
// Fails with hipErrorInvalidDeviceFunction for an unregistered address.
hipFunction_t compiled_function(const void *host_function);

// Publishes the variables that were registered before the runtime existed.
void publish_managed_variables(Runtime &runtime);

// Likewise the variable behind a host variable; hipErrorInvalidSymbol.
sim::Global compiled_variable(const void *host_variable);

// Pushed by <<<...>>> or hipConfigureCall; launches nest when an argument launches, too.
struct PendingLaunch {
    LaunchShape shape;
    hipStream_t stream;
    std::vector<std::byte> arguments; // by hipSetupArgument
};
std::vector<PendingLaunch> &pending_launches(); // the thread's

} // namespace nw::hipsim
