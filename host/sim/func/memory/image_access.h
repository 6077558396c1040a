// SPDX-License-Identifier: MIT
// Handlers of image instructions.
#pragma once
#include "sim/func/memory/access.h"
#include "sim/func/memory/formats.h"

namespace nw::sim {

void run_image(Wave &, const Inst &);
// Part n: of each lane the n-th texel that it reads or writes.
void image_places(Wave &, const Inst &, unsigned half, unsigned part, Places &);
// For checks: lanes of a store whose data register `reg` reaches memory; the bytes that it writes.
u32 stored_texel_lanes(const Wave &, const Inst &, unsigned half, unsigned reg);
BufferElement stored_texel(Wave &, const Inst &, unsigned half, unsigned lane);

} // namespace nw::sim
