// SPDX-License-Identifier: MIT
// Where a kernel's code object lies, and whether the file there can be one.
#pragma once
#include <filesystem>

#include "kernels/registry.h"

namespace nw {

// <dir>/<gfx>/<symbol>.hsaco, where <dir> is $NIBBLEWAVE_HSACO if set (then only that), else the
// first of <directory of the executable>/../hsaco and the build tree that made this binary.
// Throws Error naming every path that was tried.
std::filesystem::path find_code_object(const Kernel &);

// Throws Error naming the path unless the file is a whole 64-bit ELF for AMDGPU: a runtime's own
// "invalid image" does not say whether the file is missing, cut off, or something else.
void check_code_object(const std::filesystem::path &);

} // namespace nw
