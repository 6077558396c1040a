// SPDX-License-Identifier: MIT
// Sums of products of FP8 and BF8 (S-022). Compiled per host level.
#pragma once
#include "sim/func/alu/fp8.h"
#include "sim/func/alu/lanes.h"

namespace nw::sim::NW_LEVEL::fp8 {

// Steps add 4 or 8 products and an f32, truncated to a common grid: first in pairs, each on its own
// grid; `joint4` all at once. `exact` rounds the total once; `chain` is one fma per product.
enum class Adding : u8 { step4, step8, joint4, exact, chain };

// acc += the products of a and b in each of 32 lanes: `words` dwords of four codes, ascending k
// from the first low byte. A step of 8 takes two dwords. The host must use its default rounding.
// `nan` is the result of a NaN factor or an invalid product.
template <class A, class B>
void accumulate(u32 *acc, const Row *a, const Row *b, unsigned words, Adding how,
                u32 nan = fp::default_nan32);

// v_dot4_f32_*
template <class A, class B>
void dot4(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &m);

inline Adding matrix_adding() {
    switch (choices().fp8_wmma) {
    case choice::fp8_wmma::step4:
        return Adding::step4;
    case choice::fp8_wmma::exact:
        return Adding::exact;
    case choice::fp8_wmma::chain:
        return Adding::chain;
    default:
        return Adding::step8;
    }
}

} // namespace nw::sim::NW_LEVEL::fp8
