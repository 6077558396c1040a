// SPDX-License-Identifier: MIT
// nw choose op: the kernels of any op, by its contract's names.
#pragma once
#include "base/command_line.h"

namespace nw::cli {

void add_choose_op(Command &choose);

} // namespace nw::cli
