// SPDX-License-Identifier: MIT
// Vector instructions with a mask as a second result or as an operand: a carry, a lane's scale. For
// special.cpp, which lists all special instructions.
#pragma once
#include "sim/func/alu/kernels.h"

namespace nw::sim::NW_LEVEL {

void add_co(Wave &, const Inst &);
void sub_co(Wave &, const Inst &);
void subrev_co(Wave &, const Inst &);
void add_co_ci(Wave &, const Inst &);
void sub_co_ci(Wave &, const Inst &);
void subrev_co_ci(Wave &, const Inst &);
void mad_u64(Wave &, const Inst &);
void mad_i64(Wave &, const Inst &);
void div_scale_f32(Wave &, const Inst &);
void div_scale_f64(Wave &, const Inst &);
void div_fmas_f32(Wave &, const Inst &);
void div_fmas_f64(Wave &, const Inst &);

} // namespace nw::sim::NW_LEVEL
