// SPDX-License-Identifier: MIT
#include "lint/private_paths.h"

#include <algorithm>
#include <map>
#include <optional>

#include "lint/solve.h"

namespace nw::lint {

namespace {

using namespace sim;

// A mask of lanes, or another number. Two of one kind and id are equal.
struct Mask {
    // exec: what EXEC became at instruction `id`; number: `id`.
    enum Kind : u8 { none, all, exec, number } kind;
    u32 id = 0;
    bool operator==(const Mask &) const = default;
};
using MaybeMask = std::optional<Mask>;

constexpr Mask no_lane{Mask::none}, every_lane{Mask::all};

std::optional<u32> number_of(const MaybeMask &m) {
    if (!m || m->kind == Mask::exec)
        return std::nullopt;
    return m->kind == Mask::none ? 0 : m->kind == Mask::all ? ~u32{0} : m->id;
}
MaybeMask mask_of_number(u32 n) {
    return n == 0 ? no_lane : n == ~u32{0} ? every_lane : Mask{Mask::number, n};
}

MaybeMask mask_and(const MaybeMask &a, const MaybeMask &b) { // a & b
    if (a == no_lane || b == no_lane)
        return no_lane;
    return a == every_lane || a == b ? b : b == every_lane ? a : std::nullopt;
}
MaybeMask mask_or(const MaybeMask &a, const MaybeMask &b) { // a | b
    return a == no_lane || a == b ? b : b == no_lane ? a : std::nullopt;
}
MaybeMask mask_and_not(const MaybeMask &a, const MaybeMask &b) { // a & ~b
    if (a == no_lane || b == every_lane || (a && a == b))
        return no_lane;
    return b == no_lane ? a : std::nullopt;
}
MaybeMask mask_xor(const MaybeMask &a, const MaybeMask &b) { // a ^ b
    if (a && a == b)
        return no_lane;
    if (const auto x = number_of(a), y = number_of(b); x && y)
        return mask_of_number(*x ^ *y);
    return a == no_lane ? b : b == no_lane ? a : std::nullopt;
}

using Combine = MaybeMask (*)(const MaybeMask &, const MaybeMask &);
Combine combine_of(std::string_view name) {
    constexpr std::pair<std::string_view, Combine> rows[] = {
        {"s_and_b", mask_and},
        {"s_and_saveexec_b", mask_and},
        {"s_or_b", mask_or},
        {"s_or_saveexec_b", mask_or},
        {"s_and_not1_b", mask_and_not},
        {"s_and_not1_saveexec_b", mask_and_not},
        {"s_xor_b", mask_xor},
        {"s_xor_saveexec_b", mask_xor}};
    for (const auto &[prefix, combine] : rows)
        if (name.starts_with(prefix))
            return combine;
    return nullptr;
}

struct Masks {
    std::map<unsigned, Mask> of{{sreg::exec, {Mask::exec, 0}}}; // by SGPR, the first of a pair
    std::set<unsigned> apertures; // places of registers that hold the upper half of the aperture
    std::set<u32> some{0};        // ids of masks of at least one lane
    std::optional<bool> scc;

    bool join(const Masks &o) {
        const auto lost = [&](const auto &m) {
            const auto other = o.of.find(m.first);
            return other == o.of.end() || other->second != m.second;
        };
        bool news = std::erase_if(of, lost) > 0;
        news |= std::erase_if(apertures, [&](unsigned p) { return !o.apertures.contains(p); }) > 0;
        news |= std::erase_if(some, [&](u32 id) { return !o.some.contains(id); }) > 0;
        news |= scc && scc != o.scc;
        if (scc != o.scc)
            scc.reset();
        return news;
    }
    void forget() { *this = {{}, {}, {}, {}}; }

    // EXEC has a value of its own from here on.
    void name_exec(u32 id) {
        const Mask fresh{Mask::exec, id};
        std::erase_if(of, [&](const auto &one) { return one.second == fresh; });
        some.erase(id);
        of[sreg::exec] = fresh;
    }
};

class MaskSteps {
public:
    MaskSteps(const Flow &flow, const Facts &facts) : code_(flow.code()), facts_(facts) {}

    void operator()(Masks &m, u32 i) const {
        const Operation &op = code_.instructions[i].x;
        constexpr u32 joined = u32{1} << 31; // of several paths
        if (!m.of.contains(sreg::exec))
            m.name_exec(joined | i);
        const Masks was = m;
        for (const RegisterUse &use : facts_[i].role.uses)
            for (unsigned n = 0; use.write && use.bank == RegisterUse::sgpr && n < use.count; ++n)
                forget(m, use.first + n);
        if (facts_[i].role.cmpx || facts_[i].role.writes_exec)
            m.name_exec(i + 1);
        if (op.operands.size() >= 2)
            step(m, was, op);
    }

private:
    void forget(Masks &m, unsigned reg) const {
        m.apertures.erase(reg);
        m.of.erase(reg);
        if (facts_.wave_size() == 64)
            m.of.erase(reg - 1);
        if (reg == sreg::scc)
            m.scc.reset();
    }

    // An unknown value leaves the register as forgotten, EXEC as a mask of its own.
    static void set(Masks &m, unsigned reg, const MaybeMask &mask) {
        if (mask)
            m.of[reg] = *mask;
    }

    static MaybeMask mask_in(const Masks &m, unsigned reg) {
        const auto at = m.of.find(reg);
        return at == m.of.end() ? std::nullopt : MaybeMask(at->second);
    }
    static MaybeMask mask_of(const Masks &m, const Operand &o) {
        if (o.kind == Operand::Kind::integer)
            return mask_of_number(static_cast<u32>(o.integer));
        return o.kind == Operand::Kind::sgpr ? mask_in(m, o.reg) : std::nullopt;
    }
    static void compare(Masks &m, std::optional<u32> a, std::optional<u32> b, bool equal) {
        if (a && b)
            m.scc = (*a == *b) == equal;
    }
    static bool is_aperture(const Masks &m, const Operand &o) {
        return o.kind == Operand::Kind::sgpr && o.count == 1 && m.apertures.contains(o.reg);
    }

    static void step(Masks &m, const Masks &was, const Operation &op) {
        const std::string_view n = op.mnemonic;
        const auto &o = op.operands;
        const MaybeMask exec = mask_in(was, sreg::exec);
        if (n == "s_mov_b64" && o[1].kind == Operand::Kind::sgpr && o[1].reg == sreg::private_base)
            m.apertures.insert(o[0].reg + 1u);
        else if (n == "s_mov_b32" && is_aperture(was, o[1]))
            m.apertures.insert(o[0].reg);
        const bool compared = is_aperture(was, o.back()) || is_aperture(was, o[o.size() - 2]);
        const bool equal = n.find("_eq_") != n.npos, unequal = n.find("_ne_") != n.npos;
        if (compared && n.starts_with("v_cmp") && (equal || unequal))
            set(m, n.starts_with("v_cmpx") ? unsigned{sreg::exec} : o[0].reg,
                equal ? MaybeMask(no_lane) : exec);
        else if (compared && (n == "s_cmp_eq_u32" || n == "s_cmp_lg_u32"))
            m.scc = n == "s_cmp_lg_u32";
        else if (n == "s_cmp_eq_u32" || n == "s_cmp_lg_u32")
            compare(m, number_of(mask_of(was, o[0])), number_of(mask_of(was, o[1])),
                    n == "s_cmp_eq_u32");
        else if (n.starts_with("s_mov_b"))
            set(m, o[0].reg, mask_of(was, o[1]));
        else if (n.starts_with("s_cselect_b") && was.scc)
            set(m, o[0].reg, mask_of(was, o[*was.scc ? 1 : 2]));
        else if (const Combine combine = combine_of(n); combine && o.size() == 3)
            set(m, o[0].reg, combine(mask_of(was, o[1]), mask_of(was, o[2])));
        else if (combine && n.find("_saveexec_") != n.npos) {
            set(m, o[0].reg, exec);
            set(m, sreg::exec, combine(mask_of(was, o[1]), exec));
        }
    }

    const Code &code_;
    const Facts &facts_;
};

// True if the branch at the block's end can't be taken, or can't but be taken.
bool is_closed(const Masks &m, std::string_view branch, bool falls) {
    const auto decided = [&](std::string_view name, std::optional<bool> taken) {
        return branch == name && taken && *taken == falls;
    };
    const auto none_in = [&](unsigned reg) -> std::optional<bool> {
        const auto at = m.of.find(reg);
        if (at == m.of.end() || (at->second.kind == Mask::exec && !m.some.contains(at->second.id)))
            return std::nullopt;
        return at->second == no_lane;
    };
    const auto no = [](std::optional<bool> x) { return x ? std::optional(!*x) : x; };
    return decided("s_cbranch_execz", none_in(sreg::exec)) ||
           decided("s_cbranch_execnz", no(none_in(sreg::exec))) ||
           decided("s_cbranch_vccz", none_in(sreg::vcc)) ||
           decided("s_cbranch_vccnz", no(none_in(sreg::vcc))) || decided("s_cbranch_scc1", m.scc) ||
           decided("s_cbranch_scc0", no(m.scc));
}

} // namespace

PrivatePaths::PrivatePaths(const Flow &flow, const Facts &facts) {
    const std::vector<Block> &blocks = flow.blocks();
    const auto on = [&](const Masks &m, const Block &block, u32 next) -> std::optional<Masks> {
        const std::string_view branch = flow.code().instructions[block.end - 1].x.mnemonic;
        const std::pair edge{block.first, next};
        if (block.next.size() == 2 && is_closed(m, branch, blocks[next].first == block.end)) {
            closed_.insert(edge);
            return std::nullopt;
        }
        closed_.erase(edge); // what is known of masks only shrinks
        Masks there = m;
        const bool falls = blocks[next].first == block.end;
        if (const auto exec = m.of.find(sreg::exec);
            exec != m.of.end() && exec->second.kind == Mask::exec && block.next.size() == 2 &&
            branch == (falls ? "s_cbranch_execz" : "s_cbranch_execnz"))
            there.some.insert(exec->second.id);
        return there;
    };
    solve(flow, Masks{}, MaskSteps(flow, facts), on);
}

} // namespace nw::lint
