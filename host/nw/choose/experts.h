// SPDX-License-Identifier: MIT
// nw choose experts: the kernels of a mixture of experts with W4A16 or GGUF weights.
#pragma once
#include <CLI/CLI.hpp>

namespace nw::cli {

CLI::App *add_choose_experts(CLI::App &choose);

} // namespace nw::cli
