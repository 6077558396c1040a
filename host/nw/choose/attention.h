// SPDX-License-Identifier: MIT
// nw choose attention: the kernels of an attention or of a selection of blocks.
#pragma once
#include <CLI/CLI.hpp>

namespace nw::cli {

CLI::App *add_choose_attention(CLI::App &choose);

} // namespace nw::cli
