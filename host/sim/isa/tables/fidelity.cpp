// SPDX-License-Identifier: MIT
#include "sim/isa/tables/fidelity.h"

#include <string>
#include <unordered_map>

#include "sim/isa/tables/ops.h"

namespace nw::sim {

namespace {

bool is_half_integer(Type t) { return t == Type::u16 || t == Type::i16 || t == Type::pk16; }

// S-049
bool has_doubtful_constant(const Instruction &inst, const Operation &op, const OpInfo &row) {
    const Type sources[] = {row.a, row.b, row.c};
    for (unsigned n = 0; n < 3; ++n) {
        bool dot = row.name.starts_with("v_dot2") && sources[n] >= Type::pk16;
        if ((dot || is_half_integer(sources[n])) && inst.inline_float(op, n))
            return true;
    }
    return false;
}

// S-053
bool names_other_ttmp(const Operation &op) {
    constexpr u16 first_id = sreg::ttmp0 + 7, last_id = sreg::ttmp0 + 9;
    for (const Operand &o : op.operands)
        for (u16 reg = o.reg; o.kind == Operand::Kind::sgpr && reg < o.reg + o.count; ++reg)
            if (reg >= sreg::ttmp0 && reg < sreg::null && (reg < first_id || reg > last_id))
                return true;
    return false;
}

// Operands or modifiers whose effect is undocumented, in an otherwise exact instruction.
FidelityNote corner(const Instruction &inst, const Operation &op, std::string_view name) {
    if (name == "v_pk_mul_lo_u16" && op.has("clamp"))
        return {Fidelity::open, "S-048", ""};
    if (name.starts_with("v_dot") && is_float(info(find_op(name)).d) && op.has("clamp"))
        return {Fidelity::open, "S-089", ""};
    if (name.starts_with("v_") && has_doubtful_constant(inst, op, info(find_op(name))))
        return {Fidelity::open, "S-049", ""};
    if (name.find("_src2_") != name.npos && op.value("offset", 0) & 0x8000)
        return {Fidelity::open, "S-078", ""};
    if (names_other_ttmp(op))
        return {Fidelity::open, "S-053", ""};
    return {};
}

// S-070: gfx10's are taken to be gfx11's.
bool has_gfx11_bits(std::string_view mnemonic) {
    return info(find_op(mnemonic)).cls == Class::trans || mnemonic == "v_dot2_f32_f16" ||
           mnemonic == "v_dot2c_f32_f16" || mnemonic.starts_with("v_cvt_pk_norm_");
}

using Notes = std::unordered_map<std::string_view, FidelityNote>;

FidelityNote find(const Notes &notes, std::string_view mnemonic) {
    auto it = notes.find(mnemonic);
    return it == notes.end() ? FidelityNote{} : it->second;
}

} // namespace

FidelityNote fidelity_of(std::string_view mnemonic, Generation generation, bool fast_math) {
#define APPROXIMATE(mn, note, bound) {#mn, {Fidelity::approximate, note, bound}},
#define OPEN(mn, note) {#mn, {Fidelity::open, note, ""}},
#define FAST(mn, note)
    static const Notes &always = *new Notes{
#include "sim/isa/tables/fidelity.inc"
    };
#undef APPROXIMATE
#undef OPEN
#undef FAST
#define APPROXIMATE(mn, note, bound)
#define OPEN(mn, note)
#define FAST(mn, note) {#mn, {Fidelity::approximate, note, "a rounding per f32 addition"}},
    static const Notes &fast = *new Notes{
#include "sim/isa/tables/fidelity.inc"
    };
#undef APPROXIMATE
#undef OPEN
#undef FAST
    FidelityNote note = find(always, mnemonic);
    if (generation == Generation::gfx10 && note.fidelity == Fidelity::exact &&
        has_gfx11_bits(mnemonic))
        return {Fidelity::open, "S-070", ""};
    return note.fidelity == Fidelity::exact && fast_math ? find(fast, mnemonic) : note;
}

FidelityNote fidelity_of(const Instruction &inst, Generation generation, bool fast_math) {
    auto half = [&](const Operation &op) {
        std::string name(op.mnemonic); // v_dual_fmac_f32 is v_fmac_f32 twice as fast
        if (name.starts_with("v_dual_"))
            name.erase(2, 5);
        const FidelityNote plain = fidelity_of(name, generation, fast_math),
                           special = corner(inst, op, name);
        return special.fidelity > plain.fidelity ? special : plain;
    };
    const FidelityNote x = half(inst.x);
    if (!inst.y)
        return x;
    const FidelityNote y = half(*inst.y);
    return y.fidelity > x.fidelity ? y : x;
}

} // namespace nw::sim
