// SPDX-License-Identifier: MIT
// The headers and the bitcode that programs are compiled with.
#pragma once
#include <string>
#include <vector>

#include "sim/hiprtc/compiler.h"
#include "sim/hiprtc/options.h"

namespace nw::hiprtc {

// Writes our headers into the folder, and returns the arguments that make clang include them, or
// HIP's own where the options name a folder that has them.
std::vector<std::string> header_arguments(const Folder &folder, const Options &options);

// Writes the bitcode of printf, malloc and the like, and of math functions where ROCm's isn't
// installed, and returns the arguments that link it. Sets `said` if that fails.
std::vector<std::string> library_arguments(const Folder &folder, const Tools &tools,
                                           const Options &options, std::string *said);

} // namespace nw::hiprtc
