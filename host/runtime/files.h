// SPDX-License-Identifier: MIT
// Locates and validates the code object of a kernel.
#pragma once
#include <filesystem>

#include "runtime/kernel.h"

namespace nw {

// The directory that holds <gfx>/<symbol>.hsaco: `given` if it is not empty, else $NIBBLEWAVE_HSACO
// if set (then only that), else the first with a <gfx>/ of where an installed library has them,
// hsaco/ beside the folder of the program or shared library that this code is in, and the build
// tree. Throws Error naming every path that was tried.
std::filesystem::path find_directory(std::string_view gfx, const std::filesystem::path &given = {});

// The same; empty where there is none.
std::filesystem::path find_directory_if_any(std::string_view gfx,
                                            const std::filesystem::path &given = {});

// The kernel's file in that directory. Throws Error naming every path tried.
std::filesystem::path find_code_object(const Kernel &, const std::filesystem::path &given = {});

// Throws Error naming the path unless the file is a complete 64-bit AMDGPU ELF: the runtime's own
// "invalid image" does not distinguish missing, truncated and foreign files.
void check_code_object(const std::filesystem::path &);

} // namespace nw
