// SPDX-License-Identifier: MIT
#include "table.h"

using nw::u32;

#define DIFF_KERNEL(file, name, inputs, block) extern "C" void host_##name(const u32 *, u32 *, u32);
#define DIFF_KERNEL_NEAR(file, name, inputs, block, ulps, why) DIFF_KERNEL(file, name, , )
#include "diff_kernels.inc"
#undef DIFF_KERNEL
#undef DIFF_KERNEL_NEAR

namespace nw::diff {

namespace {

#define DIFF_KERNEL(file, name, inputs, block)                                                     \
    {#file, #name, Inputs::inputs, block, host_##name, 0, ""},
#define DIFF_KERNEL_NEAR(file, name, inputs, block, ulps, why)                                     \
    {#file, #name, Inputs::inputs, block, host_##name, ulps, why},
constexpr DiffKernel all[] = {
#include "diff_kernels.inc"
};

} // namespace

std::span<const DiffKernel> diff_kernels() { return all; }

} // namespace nw::diff
