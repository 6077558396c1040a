// SPDX-License-Identifier: MIT
// Where a kernel's code object lies, and whether the file there can be one.
#pragma once
#include <filesystem>

#include "runtime/kernel.h"

namespace nw {

// The directory that holds <gfx>/<symbol>.hsaco: `given` if it is not empty, else $NIBBLEWAVE_HSACO
// if set (then only that), else the first with a <gfx>/ of where an installed library has them,
// hsaco/ beside the folder of the program or shared library that this code is in, and the build
// tree. Throws Error naming every path that was tried.
std::filesystem::path find_directory(std::string_view gfx, const std::filesystem::path &given = {});

// The kernel's file in that directory. Throws Error naming every path that was tried.
std::filesystem::path find_code_object(const Kernel &, const std::filesystem::path &given = {});

// Throws Error naming the path unless the file is a whole 64-bit ELF for AMDGPU: a runtime's own
// "invalid image" does not say whether the file is missing, cut off, or something else.
void check_code_object(const std::filesystem::path &);

} // namespace nw
