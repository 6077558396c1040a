// SPDX-License-Identifier: MIT
// Every row of every table through one macro: define NW_ROW(mn, cls, shape, D, A, B, C), include
// this. No include guard: it is meant to be read more than once.

#define OP(mn, cls, T, ...) NW_ROW(mn, cls, lane, T, T, T, T)
#define OPX(mn, cls, D, A, B, C, ...) NW_ROW(mn, cls, lane, D, A, B, C)
#define OPS(mn, cls, T, ...) NW_ROW(mn, cls, lane, T, T, T, T)
#define OPSX(mn, cls, D, A, B, C, ...) NW_ROW(mn, cls, lane, D, A, B, C)
#define FOP(mn, cls, T, expr, ...) NW_ROW(mn, cls, lane, T, T, T, T)
#define FOPX(mn, cls, D, A, B, C, expr, ...) NW_ROW(mn, cls, lane, D, A, B, C)
#define ACC(mn, cls, T, ...) NW_ROW(mn, cls, acc, T, T, T, T)
#define FACC(mn, cls, T, expr, ...) NW_ROW(mn, cls, acc, T, T, T, T)
#define PK(mn, T, ...) NW_ROW(mn, valu, lane, pk16, pk16, pk16, pk16)
#define PKS(mn, T, ...) NW_ROW(mn, valu, lane, pk16, pk16, pk16, pk16)
#define FPK(mn, expr, ...) NW_ROW(mn, valu, lane, pkf16, pkf16, pkf16, pkf16)
#define FPKM(mn, ...) NW_ROW(mn, valu, lane, pkf16, pkf16, pkf16, pkf16)
#define FPKACC(mn, expr, ...) NW_ROW(mn, valu, acc, pkf16, pkf16, pkf16, pkf16)
#define ROWS(mn, cls, shape, D, A, B, C, fn) NW_ROW(mn, cls, shape, D, A, B, C)
#define CMP(mn, T, ...) NW_ROW(mn, valu, mask, u32, T, T, none)
#define CMPX(mn, A, B, ...) NW_ROW(mn, valu, mask, u32, A, B, none)
#include "sim/isa/tables/valu.inc"
#undef OP
#undef OPX
#undef OPS
#undef OPSX
#undef FOP
#undef FOPX
#undef ACC
#undef FACC
#undef PK
#undef PKS
#undef FPK
#undef FPKM
#undef FPKACC
#undef ROWS
#undef CMP
#undef CMPX

#define SPECIAL(mn, cls, D, A, B, C, handler) NW_ROW(mn, cls, special, D, A, B, C)
#include "sim/isa/tables/control.inc"
#include "sim/isa/tables/special.inc"
#undef SPECIAL

#define SOP(mn, D, A, B, expr, scc) NW_ROW(mn, salu, scalar, D, A, B, none)
#define SCMP(mn, T, ...) NW_ROW(mn, salu, compare, none, T, T, none)
#define SOPK(mn, D, expr, scc) NW_ROW(mn, salu, imm, D, none, none, none)
#define SCMPK(mn, T, ...) NW_ROW(mn, salu, imm, T, none, none, none)
#define SEXEC(mn, T, ...) NW_ROW(mn, salu, scalar, T, T, none, none)
#define SCMPB(mn, T, ...) NW_ROW(mn, salu, compare, none, T, u32, none)
#define SFP(mn, T, ...) NW_ROW(mn, salu, scalar, T, T, T, T)
#define SFPX(mn, D, A, B, ...) NW_ROW(mn, salu, scalar, D, A, B, none)
#define SCMPF(mn, T, ...) NW_ROW(mn, salu, compare, none, T, T, none)
#include "sim/isa/tables/salu.inc"
#undef SFP
#undef SFPX
#undef SCMPF
#undef SEXEC
#undef SCMPB
#undef SOP
#undef SCMP
#undef SOPK
#undef SCMPK

#undef NW_ROW
