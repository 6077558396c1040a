// SPDX-License-Identifier: MIT
#pragma once
#include <hip/hip_runtime.h>
