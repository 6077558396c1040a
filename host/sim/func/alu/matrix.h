// SPDX-License-Identifier: MIT
// A WMMA instruction ready to run (isa_semantics 2.53 to 2.57).
#pragma once
#include <string_view>

#include "sim/func/wave.h"

namespace nw::sim {

enum class Element : u8 { f16, bf16, fp8, bf8, f32, iu8, iu4, i32 };

struct MatrixOp {
    std::string_view name;
    Element a, b, c;
    u8 k;
    bool sparse = false; // SWMMAC: A holds two of each four k, and D is also C
};

// By mnemonic; null when there is no row.
const MatrixOp *find_matrix_op(std::string_view mnemonic);

struct Matrix {
    MatrixOp op;
    u16 a = 0, b = 0, d = 0; // first VGPRs
    Source c;                // first VGPR, or a constant
    // F16, BF16: signs of the low and high halves of A and B; C negated or absolute (2.57).
    // IU8, IU4: neg_lo says signed (2.56).
    bool neg_lo[3] = {}, neg_hi[3] = {};
    bool high_half = false; // gfx11: 16-bit C and D in the upper halves
    bool clamp = false;
    // SWMMAC: which two. index_key picks a part of the register.
    u16 index = 0;
    u8 index_key = 0;
};

} // namespace nw::sim
