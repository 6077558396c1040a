// SPDX-License-Identifier: MIT
// nw choose attention: the kernels of an attention or of a selection of blocks.
#pragma once
#include "base/command_line.h"

namespace nw::cli {

void add_choose_attention(Command &choose);

} // namespace nw::cli
