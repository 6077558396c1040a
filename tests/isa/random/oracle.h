// SPDX-License-Identifier: MIT
// Effect of each instruction by isa_semantics.md, one lane at a time: rows by mnemonic.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "isa/random/soft.h"

namespace nw::oracle {

using i128 = __int128;
using u128 = unsigned __int128;

// How an operand is loaded, which hard values it gets, and whether NEG and ABS apply.
enum class T : u8 { none, u16, i16, h16, u32, i32, s32, u64, i64, d64, pk16, pkh16, pkbf16, mix };
constexpr bool is_float(T t) { return t == T::h16 || t == T::s32 || t == T::d64 || t == T::mix; }
constexpr bool is_16(T t) { return t == T::u16 || t == T::i16 || t == T::h16; }
constexpr bool is_64(T t) { return t == T::u64 || t == T::i64 || t == T::d64; }
constexpr bool is_packed(T t) { return t == T::pk16 || t == T::pkh16 || t == T::pkbf16; }
constexpr const Format &format_of(T t) { return t == T::h16 ? f16 : t == T::d64 ? f64 : f32; }

// The shape of the instruction's text.
enum class Form : u8 {
    plain,      // d, a, b, c: as many as there are
    accumulate, // d, a, b with the old d as c
    select,     // d, a, b, vcc
    fmamk,      // d, a, 0x3fc00000, c
    fmaak,      // d, a, b, 0x3fc00000
    compare,    // vcc, a, b
    comparex,   // a, b; the new EXEC
    carry_out,  // d, vcc, a, b
    carry,      // d, vcc, a, b, vcc
    carry_mad,  // d, vcc, a, b, c
    packed,     // VOP3P with op_sel, op_sel_hi
    mixed,      // fma_mix
    dot,        // VOP3P whose operands are whole registers
    scalar,     // s: d, a, b
    scalar_compare,
    scalar_imm, // SOPK: d, simm16
    scalar_acc, // s_fmac: d, a, b
    exec        // saveexec, wrexec
};

struct In {
    u64 a, b, c, d; // d: the old destination
    bool flag;      // this lane's bit of VCC; SCC of a scalar instruction
    u64 exec;       // of scalar instructions
    u32 signs;      // of integer dots: bit n: source n is signed
    bool clamp;
};

struct Out {
    u64 d = 0;
    bool flag = false;
    std::optional<i128> wide = std::nullopt; // what CLAMP saturates
    u64 exec = 0;
    u64 ignore = 0; // bits of d that the rules leave open
    Out(u64 result) : d(result) {}
    Out(u64 result, bool carry) : d(result), flag(carry) {}
};

struct Row {
    std::string name;
    Form form = Form::plain;
    T d = T::none, a = T::none, b = T::none, c = T::none;
    std::function<Out(const In &, const Env &)> f;
    bool omod = true, clamp = true, modifiers = true; // legal in the text
};

using Rows = std::map<std::string, Row>;

const Rows &rows();

// Each file of rows adds its own.
void add_integer_rows(Rows &);
void add_float_rows(Rows &);
void add_convert_rows(Rows &);
void add_divide_rows(Rows &);
void add_compare_rows(Rows &);
void add_packed_rows(Rows &);
void add_dot_rows(Rows &);
void add_scalar_rows(Rows &);

inline void add(Rows &rows, Row row) {
    std::string name = row.name;
    rows.emplace(std::move(name), std::move(row));
}

inline u64 low(unsigned bits, u64 x) { return bits == 64 ? x : x & ((u64{1} << bits) - 1); }
inline i64 sign_extended(unsigned bits, u64 x) {
    return static_cast<i64>(x << (64 - bits)) >> (64 - bits);
}

} // namespace nw::oracle
