// SPDX-License-Identifier: MIT
// nw choose op: the kernels of any op, by its contract's names.
#pragma once
#include <CLI/CLI.hpp>

namespace nw::cli {

CLI::App *add_choose_op(CLI::App &choose);

} // namespace nw::cli
