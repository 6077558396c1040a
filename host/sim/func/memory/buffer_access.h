// SPDX-License-Identifier: MIT
// Handlers of buffer instructions.
#pragma once
#include "sim/func/memory/access.h"
#include "sim/func/memory/formats.h"

namespace nw::sim {

void run_buffer(Wave &, const Inst &);
void buffer_places(Wave &, const Inst &, unsigned half, unsigned part, Places &);
// For checks: lanes of a store or atomic whose data register `reg` reaches memory.
u32 stored_lanes(const Wave &, const Inst &, unsigned half, unsigned reg);
// For checks: the bytes that a typed store writes for a lane.
BufferElement stored_element(Wave &, const Inst &, unsigned half, unsigned lane);

} // namespace nw::sim
