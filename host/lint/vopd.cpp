// SPDX-License-Identifier: MIT
#include "lint/vopd.h"

#include <algorithm>
#include <array>

namespace nw::lint {

using namespace sim;

namespace {

enum class Kind : u8 {
    move,       // d, src0
    plain,      // d, src0, vsrc1
    accumulate, // the same; d is src2
    add_k,      // d, src0, vsrc1, K
    mul_k,      // d, src0, K, src2
    select,     // d, src0, vsrc1[, vcc_lo]
};

struct Form {
    std::string_view name; // without v_ and v_dual_
    Kind kind;
    bool x = true, commutes = true; // sub does, to subrev
};

constexpr Form forms[] = {
    {"mov_b32", Kind::move, true, false},
    {"add_f32", Kind::plain},
    {"sub_f32", Kind::plain},
    {"subrev_f32", Kind::plain},
    {"mul_f32", Kind::plain},
    {"mul_dx9_zero_f32", Kind::plain},
    {"max_f32", Kind::plain},
    {"min_f32", Kind::plain},
    {"max_num_f32", Kind::plain},
    {"min_num_f32", Kind::plain},
    {"fmac_f32", Kind::accumulate},
    {"dot2acc_f32_f16", Kind::accumulate},
    {"dot2acc_f32_bf16", Kind::accumulate},
    {"fmaak_f32", Kind::add_k},
    {"fmamk_f32", Kind::mul_k, true, false},
    {"cndmask_b32", Kind::select, true, false},
    {"add_nc_u32", Kind::plain, false},
    {"and_b32", Kind::plain, false},
    {"lshlrev_b32", Kind::plain, false, false},
};

// Three-source forms that equal the accumulating ones if they add to their destination.
constexpr std::pair<std::string_view, std::string_view> accumulating[] = {
    {"fma_f32", "fmac_f32"},
    {"dot2_f32_f16", "dot2acc_f32_f16"},
    {"dot2_f32_bf16", "dot2acc_f32_bf16"},
};

const Form *find_form(std::string_view name) {
    const auto it = std::ranges::find(forms, name, &Form::name);
    return it == std::end(forms) ? nullptr : &*it;
}

// The mask of v_dual_cndmask. The assembler counts it as another SGPR than an explicit vcc_lo.
constexpr u16 implied_vcc = sreg::count;

bool is_vgpr(const Operand &o) { return o.kind == Operand::Kind::vgpr; }

} // namespace

std::string_view name(VopdRule r) {
    constexpr std::array<std::string_view, vopd_rules> names{
        "wave64", "no_dual_form", "both_y",    "dependency", "literals",  "scalars",
        "parity", "src0_bank",    "src1_bank", "src2_bank",  "interlock", "none"};
    return names[static_cast<size_t>(r)];
}

std::string_view text(VopdRule r) {
    constexpr std::array<std::string_view, vopd_rules> texts{"pairs are for wave32",
                                                             "no dual form",
                                                             "both opcodes are for Y only",
                                                             "dependent, or on what is between",
                                                             "two different literals",
                                                             "more than two SGPRs and literals",
                                                             "destinations both even or both odd",
                                                             "src0 in the same VGPR bank",
                                                             "vsrc1 in the same VGPR bank",
                                                             "src2 in the same VGPR bank",
                                                             "sources of the same parity (H-026)",
                                                             "nothing forbids it"};
    return texts[static_cast<size_t>(r)];
}

void VopdHalf::take_literal(i64 value) {
    two_literals_ |= literal_ && *literal_ != value;
    literal_ = value;
}

bool VopdHalf::take(size_t source, const Operand &o) {
    if (o.neg || o.abs || o.half != Operand::Half::none || o.count != 1)
        return false;
    switch (o.kind) {
    case Operand::Kind::vgpr:
        vgpr_[source] = o.reg;
        reads_.add(RegisterSet::of_vgpr(o.reg));
        return true;
    case Operand::Kind::sgpr:
        reads_.add(RegisterSet::of_sgpr(o.reg));
        if (o.reg != sreg::null && !std::ranges::count(sgprs_, o.reg))
            sgprs_.push_back(o.reg);
        return source == 0;
    case Operand::Kind::integer:
        if (o.literal)
            take_literal(o.integer);
        return source == 0;
    case Operand::Kind::real:
        return source == 0;
    default:
        return false;
    }
}

std::optional<VopdHalf> VopdHalf::make(std::string_view plain, const Operation &op, bool gfx12,
                                       bool may_swap) {
    const Form *form = find_form(plain);
    std::vector<Operand> o = op.operands;
    constexpr size_t counts[] = {2, 3, 3, 4, 4, 3};
    if (!form || o.size() < counts[static_cast<size_t>(form->kind)] || !is_vgpr(o[0]) ||
        o[0].count != 1)
        return {};
    if (may_swap && form->commutes && !is_vgpr(o[2]))
        std::swap(o[1], o[2]);
    VopdHalf h;
    h.may_be_x_ = form->x;
    h.commutes_ = form->commutes;
    h.moves_ = form->kind == Kind::move;
    h.gfx12_ = gfx12;
    h.destination_ = o[0].reg;
    h.writes_.add(RegisterSet::of_vgpr(o[0].reg));
    bool fits = h.take(0, o[1]);
    if (form->kind != Kind::move && form->kind != Kind::mul_k)
        fits &= h.take(1, o[2]);
    if (form->kind == Kind::accumulate)
        fits &= h.take(2, o[0]);
    if (form->kind == Kind::mul_k)
        fits &= h.take(2, o[3]);
    if (form->kind == Kind::add_k || form->kind == Kind::mul_k)
        h.take_literal(o[form->kind == Kind::add_k ? 3 : 2].integer);
    if (form->kind == Kind::select) {
        fits &= o.size() == 3 || (o[3].kind == Operand::Kind::sgpr && o[3].reg == sreg::vcc);
        h.reads_.add(RegisterSet::of_sgpr(sreg::vcc));
        h.sgprs_.push_back(implied_vcc);
    }
    return fits ? std::optional(std::move(h)) : std::nullopt;
}

std::optional<VopdHalf> VopdHalf::of(const Instruction &inst, bool gfx12) {
    const Operation &op = inst.x;
    if (inst.y || !op.mnemonic.starts_with("v_") || op.dpp || !op.modifiers.empty())
        return {};
    std::string_view plain = op.mnemonic.substr(2);
    for (const auto &[three, two] : accumulating) {
        if (plain != three)
            continue;
        const auto &o = op.operands;
        if (o.size() != 4 || !is_vgpr(o[0]) || !is_vgpr(o[3]) || o[3].reg != o[0].reg || o[3].neg ||
            o[3].abs)
            return {};
        plain = two;
    }
    return make(plain, op, gfx12, true);
}

std::optional<VopdHalf> VopdHalf::of_dual(const Operation &op, bool gfx12) {
    constexpr std::string_view prefix = "v_dual_";
    if (!op.mnemonic.starts_with(prefix) || !op.modifiers.empty())
        return {};
    return make(op.mnemonic.substr(prefix.size()), op, gfx12, false);
}

VopdHalf VopdHalf::swapped() const {
    VopdHalf h = *this;
    std::swap(h.vgpr_[0], h.vgpr_[1]);
    return h;
}

VopdRule broken_as_written(const VopdHalf &x, const VopdHalf &y) {
    if (!x.may_be_x_)
        return VopdRule::both_y;
    if (x.two_literals_ || y.two_literals_ ||
        (x.literal_ && y.literal_ && *x.literal_ != *y.literal_))
        return VopdRule::literals;
    size_t scalars = x.sgprs_.size() + (x.literal_ || y.literal_);
    for (u16 sgpr : y.sgprs_)
        scalars += !std::ranges::count(x.sgprs_, sgpr);
    if (scalars > 2)
        return VopdRule::scalars;
    if (x.destination_ % 2 == y.destination_ % 2)
        return VopdRule::parity;
    // For two moves, gfx12 can read Y's source through the src2 port.
    const bool both_move = x.gfx12_ && x.moves_ && y.moves_;
    const u16 banks[] = {4, 4, 2};
    for (size_t n = both_move ? 1 : 0; n < std::size(banks); ++n)
        if (x.vgpr_[n] != VopdHalf::no_vgpr && y.vgpr_[n] != VopdHalf::no_vgpr &&
            x.vgpr_[n] % banks[n] == y.vgpr_[n] % banks[n])
            return static_cast<VopdRule>(static_cast<size_t>(VopdRule::src0_bank) + n);
    return VopdRule::none;
}

// The same, and H-026.
VopdRule broken_in_order(const VopdHalf &x, const VopdHalf &y) {
    const VopdRule rule = broken_as_written(x, y);
    if (rule != VopdRule::none || x.gfx12_)
        return rule;
    for (size_t n : {0, 1})
        if (x.vgpr_[n] != VopdHalf::no_vgpr && y.vgpr_[n] != VopdHalf::no_vgpr &&
            x.vgpr_[n] % 2 == y.vgpr_[n] % 2)
            return VopdRule::interlock;
    return rule;
}

VopdRule broken(const VopdHalf &first, const VopdHalf &second) {
    // Both read before either writes, so the second may overwrite a source of the first, as Y.
    if (first.writes_.intersects(second.reads_) || first.writes_.intersects(second.writes_))
        return VopdRule::dependency;
    const auto orders = [](const VopdHalf &h) {
        std::vector<VopdHalf> out{h};
        if (h.commutes_ && h.vgpr_[0] != VopdHalf::no_vgpr)
            out.push_back(h.swapped());
        return out;
    };
    VopdRule best = VopdRule::wave64;
    const bool second_is_y = second.writes_.intersects(first.reads_); // H-030
    for (const VopdHalf &a : orders(first))
        for (const VopdHalf &b : orders(second)) {
            const VopdRule exchanged = broken_in_order(b, a);
            best = std::max({best, broken_in_order(a, b),
                             second_is_y ? std::min(exchanged, VopdRule::dependency) : exchanged});
        }
    return best;
}

} // namespace nw::lint
