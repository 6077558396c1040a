// SPDX-License-Identifier: MIT
// Runs the host build of a kernel as a GPU would: workgroups of work-items with barriers and lanes
// that read each other. Each work-item is a context of its own that stops at barriers.
#pragma once
#include "base/types.h"

namespace nw::diff {

using HostKernel = void (*)(const u32 *in, u32 *out, u32 n);

// Throws nw::Error where the work-items wait for each other for ever. One thread at a time: a
// kernel's LDS arrays are the host build's static variables.
void run_on_host(HostKernel, u32 groups, u32 block, u32 wave_size, const u32 *in, u32 *out, u32 n);

} // namespace nw::diff
