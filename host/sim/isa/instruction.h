// SPDX-License-Identifier: MIT
// One instruction parsed from LLVM's canonical text: mnemonic, operands, modifiers.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace nw::sim {

// SGPR numbers are the ISA's own operand codes, so VCC, EXEC, M0, NULL and TTMP are SGPRs too.
namespace sreg {
inline constexpr u16 vcc = 106, ttmp0 = 108, null = 124, m0 = 125, exec = 126;
// Beyond the 128 codes: values that can only be sources.
inline constexpr u16 scc = 128, vccz = 129, execz = 130, shared_base = 132, shared_limit = 134,
                     private_base = 136, private_limit = 138, count = 140;
} // namespace sreg

struct Operand {
    enum class Kind : u8 { none, vgpr, sgpr, integer, real, off, text };
    enum class Half : u8 { none, low, high }; // v1.l, v1.h

    Kind kind = Kind::none;
    Half half = Half::none;
    bool neg = false, abs = false;
    bool sext = false;    // of SDWA: the selected piece is signed
    bool literal = false; // printed in hexadecimal: 32 bits that follow the instruction
    u16 reg = 0;          // first register
    u16 count = 1;        // registers named
    i64 integer = 0;
    double real = 0;
    std::string_view text; // as written
};

// `offset:16` has one value, `quad_perm:[1,0,3,2]` four, `glc` none.
struct Modifier {
    std::string_view name;
    std::vector<i64> values;
    std::string_view text; // what follows the colon
};

// One operation: an instruction has one, a VOPD pair two.
struct Operation {
    std::string_view mnemonic; // without encoding suffix: "v_add_f32"
    bool e64 = false, dpp = false;
    std::vector<Operand> operands;
    std::vector<Modifier> modifiers;

    const Modifier *modifier(std::string_view name) const;
    bool has(std::string_view name) const { return modifier(name) != nullptr; }
    i64 value(std::string_view name, i64 otherwise) const;
};

struct Instruction {
    u32 offset = 0; // in bytes from the start of the code
    u32 size = 0;   // in bytes
    u32 word0 = 0;  // first dword of the encoding: SIMM16 and DS offsets are taken from it
    u32 word1 = 0;
    std::string text; // "" when LLVM can't decode it
    Operation x;
    std::optional<Operation> y; // the second half of a VOPD pair

    i32 simm16() const { return static_cast<i16>(word0); }
    // Source n of this operation, if it is an inline float constant, as f32: the text has it in
    // hexadecimal, like a literal, where the operand is a 16-bit integer (0.6).
    std::optional<f32> inline_float(const Operation &, unsigned n) const;
};

// Parses `text` into mnemonic, operands and modifiers, which point into it.
Operation parse_operation(std::string_view text);
// The same for the one or two operations of an instruction, from its own text.
void parse(Instruction &);

} // namespace nw::sim
