// SPDX-License-Identifier: MIT
// WMMA and SWMMAC on whole matrices: D = A B + C as chains of steps or exact sums, and where the
// elements lie in registers (2.53 to 2.59, S-003).
#pragma once
#include <string>
#include <vector>

#include "isa/random/dot_operands.h"

namespace nw::oracle {

enum class Element : u8 { f16, bf16, fp8, bf8, iu8, iu4, f32, i32 };
unsigned bits_of(Element);
inline bool is_integer(Element e) { return e >= Element::iu8 && e != Element::f32; }

struct MatrixCase {
    std::string mnemonic;
    Element a, b, c;
    unsigned k;
    bool sparse = false;
    // Modifiers: NEG of factors' even and odd elements and of C, ABS of C (floats); signed factors
    // (integers); the upper halves of gfx11's 16-bit C and D; which part of the index register.
    u32 neg_lo = 0, neg_hi = 0;
    bool clamp = false, high = false;
    unsigned key = 0;
    bool gfx12 = false;
    unsigned wave = 32;
    bool in_place = false;       // C and D are the same registers
    std::string constant_c = ""; // instead of registers
    u32 constant_bits = 0;

    unsigned stored_k() const { return sparse ? k / 2 : k; } // of A
    std::string text() const; // A: v[4:11], B: v[12:19], C: v[20:27], D: v[28:35], index: v36
};

std::vector<MatrixCase> matrix_cases(bool gfx12, unsigned wave);

constexpr unsigned side = 16;

struct Matrices {
    std::vector<u64> a, b; // a[row][stored k], b[column][k]
    std::vector<u8> k_of;  // k_of[row][stored k]: where it lies in its four; sparse
    u64 c[side][side];
    bool saturate_f16; // MODE.FP16_OVFL
};

Matrices random_matrices(const MatrixCase &, Random &);

// The element of D.
u64 matrix_element(const MatrixCase &, const Matrices &, unsigned row, unsigned column);

// Registers v4 to v36 of every lane; what isn't A, B, C or the index is noise.
constexpr unsigned matrix_registers = 33, first_register = 4;
using LaneRegisters = std::vector<u32>; // [lane][register - first_register]
LaneRegisters pack(const MatrixCase &, const Matrices &, Random &);

// Where an element of C or D lies, counted from its first register.
struct ElementPlace {
    unsigned lane, reg, shift;
};
ElementPlace place_of_result(const MatrixCase &, unsigned row, unsigned column);

} // namespace nw::oracle
