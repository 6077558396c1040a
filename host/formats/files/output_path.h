// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>

namespace nw {

// Throws Error if `out` must not be written: the input is not there, is `out` itself or a folder
// around it, the output's folder is not there, or `out` exists and is not to be replaced.
void check_output(const std::filesystem::path &input, const std::filesystem::path &out,
                  bool replace);

} // namespace nw
