// SPDX-License-Identifier: MIT
// The kernels of kernels/*.cl, read off their sources by the build.
#pragma once
#include <span>
#include <string_view>

#include "host_group.h"
#include "inputs.h"

namespace nw::diff {

struct DiffKernel {
    std::string_view file, name;
    Inputs inputs;
    u32 block;
    HostKernel host;
    u32 ulps = 0;         // allowed distance of results, as f32
    std::string_view why; // not exact
};

std::span<const DiffKernel> diff_kernels();

} // namespace nw::diff
