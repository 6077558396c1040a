// SPDX-License-Identifier: MIT
// Arithmetic that packed, mixed and scalar rows share with the vector rows.
#pragma once
#include "isa/random/oracle.h"

namespace nw::oracle {

u64 sum(const Format &, u64 a, u64 b, const Env &, const Rounding &);
u64 product(const Format &, u64 a, u64 b, const Env &, const Rounding &);
u64 fused(const Format &, u64 a, u64 b, u64 c, const Env &, const Rounding &);
u64 scaled(const Format &, u64 a, i64 power, const Env &, const Rounding &); // a * 2^power
u64 min_max(const Format &, u64 a, u64 b, bool lesser, const Env &);         // v_min, v_min_num
u64 minimum_maximum(const Format &, u64 a, u64 b, bool lesser, const Env &); // v_minimum

} // namespace nw::oracle
