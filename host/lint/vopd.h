// SPDX-License-Identifier: MIT
// The rules of VOPD (H-001, H-026, H-030): which two instructions may be the halves of one.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "sim/isa/register_set.h"

namespace nw::lint {

// Why two instructions can't be a pair; reasons that other registers can't fix come first.
enum class VopdRule : u8 {
    wave64,       // there are pairs in wave32 only
    no_dual_form, // of the opcode, or of its modifiers
    both_y,       // neither opcode may be X
    dependency,   // one, or an instruction between, reads or writes what the other writes
    literals,     // two literals of different values
    scalars,      // more than two SGPRs, or more than one beside a literal
    parity,       // both destinations are even, or both odd
    src0_bank,    // both src0 are in one bank, of four
    src1_bank,    // the same of vsrc1
    src2_bank,    // the same of src2, of two banks: v_fmamk's last source, an accumulator
    interlock,    // sources of one parity, which gfx11 may read too early (H-026)
    none,         // they can be a pair
};
constexpr size_t vopd_rules = static_cast<size_t>(VopdRule::none) + 1;
std::string_view name(VopdRule); // "src0_bank"
std::string_view text(VopdRule); // "src0 in the same VGPR bank"

// One instruction as half of a pair.
class VopdHalf {
public:
    // Empty if it has no dual form.
    static std::optional<VopdHalf> of(const sim::Instruction &, bool gfx12);
    // From an instruction that is already a half: "v_dual_mul_f32 v0, v1, v2".
    static std::optional<VopdHalf> of_dual(const sim::Operation &, bool gfx12);

    bool may_be_x() const { return may_be_x_; }
    const sim::RegisterSet &reads() const { return reads_; }
    const sim::RegisterSet &writes() const { return writes_; }

private:
    friend VopdRule broken_as_written(const VopdHalf &, const VopdHalf &);
    friend VopdRule broken(const VopdHalf &, const VopdHalf &);
    friend VopdRule broken_in_order(const VopdHalf &, const VopdHalf &);

    static std::optional<VopdHalf> make(std::string_view plain, const sim::Operation &, bool gfx12,
                                        bool may_swap);
    bool take(size_t source, const sim::Operand &); // false: it can't be there
    void take_literal(i64 value);
    VopdHalf swapped() const;

    static constexpr u16 no_vgpr = 0xffff;

    bool may_be_x_ = false, commutes_ = false, moves_ = false, gfx12_ = false;
    u16 destination_ = 0;
    u16 vgpr_[3] = {no_vgpr, no_vgpr, no_vgpr}; // src0, vsrc1, src2
    std::vector<u16> sgprs_;                    // each once; VCC where it is implied
    std::optional<i64> literal_;
    bool two_literals_ = false; // in this half alone
    sim::RegisterSet reads_, writes_;
};

// The rule of the assembler that `x :: y` violates with their operands unchanged, or none.
VopdRule broken_as_written(const VopdHalf &x, const VopdHalf &y);
// The same with the hazards of pairs, if either may be X and commutative sources may be swapped:
// the least severe violation.
VopdRule broken(const VopdHalf &first, const VopdHalf &second);

} // namespace nw::lint
