// SPDX-License-Identifier: MIT
// Rules D-001 to D-010: the kernel's code against its descriptor and metadata.
#pragma once
#include "lint/facts.h"
#include "lint/finding.h"

namespace nw::lint {

// The kernel descriptor's fields, decoded (LLVM, AMDGPUUsage, "Kernel Descriptor").
struct Descriptor {
    Descriptor(const sim::KernelInfo &, const Target &);

    u32 vgprs;            // allocated to a lane, as encoded
    u32 user_sgprs;       // from s0 on
    u32 enabled_sgprs;    // of them: those that the descriptor has something put into
    u32 system_sgprs;     // after them: work-group ids and info, to gfx11; gfx10: where scratch is
    bool workgroup_id[3]; // enabled
    u32 kernarg_at;       // the SGPR pair that holds the kernel arguments' address,
    bool has_kernarg;     // if any
};

Findings find_undeclared(const Flow &, const Facts &, const sim::Program &,
                         const sim::KernelInfo &);

} // namespace nw::lint
