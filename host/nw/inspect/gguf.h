// SPDX-License-Identifier: MIT
// nw inspect of a GGUF model.
#pragma once
#include <string>

namespace nw::cli {

bool is_gguf(const std::string &path); // by its first bytes, or by its name
// Kernels are counted of gfx. Throws Error where no target has that name.
void inspect_gguf(const std::string &path, const std::string &gfx, bool json);

} // namespace nw::cli
