// SPDX-License-Identifier: MIT
// AMD's declarations, so that the compiler checks every signature that we define.
#pragma once
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
#include <hip/hip_runtime_api.h>

// ROCm 6 headers rename these two to their R0600 forms; here each name is the plain symbol.
#undef hipGetDeviceProperties
#undef hipChooseDevice
