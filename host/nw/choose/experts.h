// SPDX-License-Identifier: MIT
// nw choose experts: the kernels of a mixture of experts with W4A16 or GGUF weights.
#pragma once
#include "base/command_line.h"

namespace nw::cli {

void add_choose_experts(Command &choose);

} // namespace nw::cli
