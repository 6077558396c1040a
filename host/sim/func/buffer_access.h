// SPDX-License-Identifier: MIT
// Handlers of buffer instructions.
#pragma once
#include "sim/func/access.h"

namespace nw::sim {

void run_buffer(Wave &, const Inst &);
void buffer_places(Wave &, const Inst &, unsigned half, bool second, Places &);

} // namespace nw::sim
