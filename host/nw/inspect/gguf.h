// SPDX-License-Identifier: MIT
// nw inspect of a GGUF model.
#pragma once
#include <string>

namespace nw::cli {

bool is_gguf(const std::string &path); // by its first bytes, or by its name
void inspect_gguf(const std::string &path, bool json);

} // namespace nw::cli
