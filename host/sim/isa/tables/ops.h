// SPDX-License-Identifier: MIT
// The rows of *.inc as data: name, cost class, shape and operand types of each operation.
#pragma once
#include <string_view>

#include "base/types.h"

namespace nw::sim {

// Cost class of a wave instruction.
enum class Class : u8 {
    valu,
    vopd,
    trans,
    wmma,
    salu,
    smem,
    vmem_load,
    vmem_store,
    lds,
    branch,
    wait,
    other,
    count
};

// How an operand's bits are read. 16-bit types take the low half of a register after selection.
enum class Type : u8 {
    none,
    u16,
    i16,
    f16,
    bf16,
    u32,
    i32,
    f32,
    u64,
    i64,
    f64,
    pk16,
    pkf16,
    pkbf16,
    mix
};

constexpr unsigned rows_of(Type t) {
    return t == Type::u64 || t == Type::i64 || t == Type::f64 ? 2 : 1;
}
constexpr bool is_half(Type t) { return t >= Type::u16 && t <= Type::bf16; }
constexpr bool is_float(Type t) {
    return t == Type::f16 || t == Type::bf16 || t == Type::f32 || t == Type::f64 ||
           t == Type::pkf16 || t == Type::mix;
}

enum class Shape : u8 {
    lane,    // d = f(a, b, c) in each lane
    acc,     // the same, and c is the old value of d
    mask,    // v_cmp: a bit per lane
    scalar,  // SOP1, SOP2: d, scc = f(a, b, d, scc)
    compare, // SOPC: scc = f(a, b)
    imm,     // SOPK: as scalar with b = simm16
    special  // own handler
};

enum class Op : u16 {
    none,
#define NW_ROW(mn, cls, shape, D, A, B, C) mn,
#include "sim/isa/tables/rows.h"
    count
};

struct OpInfo {
    std::string_view name;
    Class cls = Class::other;
    Shape shape = Shape::special;
    Type d = Type::none, a = Type::none, b = Type::none, c = Type::none;
};

const OpInfo &info(Op op);
Op find_op(std::string_view mnemonic); // Op::none when there is no row

} // namespace nw::sim
