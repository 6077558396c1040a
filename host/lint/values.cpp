// SPDX-License-Identifier: MIT
#include "lint/values.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>

#include "lint/descriptor.h"
#include "lint/private_paths.h"
#include "lint/solve.h"
#include "sim/isa/device.h"

namespace nw::lint {

namespace {

using namespace sim;

// ---- registers that nothing wrote
// -----------------------------------------------------------------

struct Written {
    RegisterHalves set; // written on some path to here
    bool join(const Written &o) { return set.add_all(o.set); }
    void add(unsigned place) { set.low.add(place), set.high.add(place); }
    void forget() { // a call may have written anything
        for (unsigned n = 0; n < RegisterSet::vgprs + RegisterSet::sgprs; ++n)
            add(n);
    }
};

Written at_entry(const KernelInfo &kernel, const Target &target) {
    const Descriptor d(kernel, target);
    Written w;
    for (u32 s = 0; s < std::min(d.enabled_sgprs, d.user_sgprs); ++s)
        w.add(RegisterSet::of_sgpr(s));
    for (u32 s = d.user_sgprs; s < d.user_sgprs + d.system_sgprs; ++s)
        w.add(RegisterSet::of_sgpr(s));
    for (u32 s : {u32{sreg::exec}, u32{sreg::exec} + 1, u32{sreg::m0}})
        w.add(RegisterSet::of_sgpr(s));
    for (u32 s = sreg::ttmp0; s < sreg::null; ++s)
        w.add(RegisterSet::of_sgpr(s));
    for (u32 v = 0; v < item_id_vgprs(kernel, target); ++v)
        w.add(RegisterSet::of_vgpr(v));
    return w;
}

// M0 selects what it reads; v_swaprel has both of its registers written, too.
bool selects(const Fact &fact) { return fact.relative && fact.relative->source.mask; }

// By 32, which may be in a register, one half of a pair isn't used: clang does so at -O0.
bool shifts_a_pair(const Operation &op, const RegisterUse &use) {
    return (op.mnemonic == "s_lshr_b64" || op.mnemonic == "s_lshl_b64") && use.count == 2;
}

bool has_any(const RegisterHalves &set, const RegisterUse &use) {
    unsigned reg = 0;
    while (reg < use.count && !set.has(use, reg))
        ++reg;
    return reg < use.count;
}

// gfx10: the compiler's prologue adds the wave's offset in scratch memory to the descriptor in
// s[0:3], or a copy. A kernel without scratch gets no offset: then the descriptor is as if never
// written, which is no bug on paths that need an address in scratch memory.
struct ScratchOffset {
    bool there = false;
    u32 sgpr = 0;
    ScratchOffset(const KernelInfo &kernel, const Target &target) {
        const Descriptor d(kernel, target);
        sgpr = d.user_sgprs + d.system_sgprs;
        there = !target.own_scratch && !(kernel.rsrc2 & 1) && (kernel.properties & 1);
    }
    bool added_by(const Operation &op) const {
        const auto &o = op.operands;
        return there && op.mnemonic == "s_add_u32" && o.size() == 3 &&
               o[2].kind == Operand::Kind::sgpr && o[2].reg == sgpr &&
               o[1].kind == Operand::Kind::sgpr && o[1].reg == o[0].reg;
    }
};

// ---- comparisons
// ------------------------------------------------------------------------------------

bool compares(std::string_view n) {
    return n.starts_with("s_cmp") || n.starts_with("s_bitcmp") ||
           (n.starts_with("v_cmp_") && !n.starts_with("v_cmpx"));
}

// May leave SCC as it was (S-052): compilers put a comparison before it for that case.
bool may_keep_scc(std::string_view n) { return n == "s_barrier_signal_isfirst"; }

} // namespace

// The upper half of the addend of a 64-bit multiply-add counts as a copy into the upper half of the
// sum.
std::vector<std::pair<unsigned, unsigned>> copies(const Operation &op) {
    const std::string_view n = op.mnemonic;
    const bool mad = n.starts_with("v_mad_") && (n.ends_with("u64_u32") || n.ends_with("i64_i32"));
    const bool move = n == "s_mov_b32" || n == "s_mov_b64" || (n == "v_mov_b32" && !op.dpp);
    if ((!mad && !move) || op.operands.size() < 2)
        return {};
    const Operand &to = op.operands.front(), &from = op.operands.back();
    const auto place = [](const Operand &o, unsigned n) {
        return o.kind == Operand::Kind::vgpr ? RegisterSet::of_vgpr(o.reg + n)
                                             : RegisterSet::of_sgpr(o.reg + n);
    };
    const bool sgpr = from.kind == Operand::Kind::sgpr && from.reg < sreg::null;
    if (to.count != from.count || (from.kind != Operand::Kind::vgpr && !sgpr))
        return {};
    std::vector<std::pair<unsigned, unsigned>> out;
    for (unsigned n = mad ? 1 : 0; n < to.count; ++n)
        out.emplace_back(place(to, n), place(from, n));
    return out;
}

bool may_read_anything(const Operation &op, const Fact &fact) {
    return op.mnemonic.starts_with("v_writelane") || fact.to_scratch ||
           op.mnemonic.find("_d16_hi") != op.mnemonic.npos;
}

RegisterSet written_at_entry(const KernelInfo &kernel, const Target &target) {
    return at_entry(kernel, target).set.low;
}

Findings find_never_written(const Flow &flow, const Facts &facts, const KernelInfo &kernel) {
    const std::vector<Instruction> &code = flow.code().instructions;
    const ScratchOffset scratch(kernel, facts.target());
    const auto step = [&](Written &w, u32 i) {
        RegisterHalves fresh;
        for (const RegisterUse &use : facts[i].role.uses)
            if (use.write)
                fresh.add(use);
        for (const auto &[to, from] : copies(code[i].x)) {
            if (!w.set.low.has(from))
                fresh.low.remove(to);
            if (!w.set.high.has(from))
                fresh.high.remove(to);
        }
        add_selectable(fresh, facts[i]);
        w.set.add_all(fresh);
        if (scratch.added_by(code[i].x)) {
            const unsigned sum = RegisterSet::of_sgpr(code[i].x.operands[0].reg);
            w.set.low.remove(sum), w.set.high.remove(sum);
        }
    };
    const auto is_copied = [&](u32 i, unsigned place) {
        return std::ranges::any_of(copies(code[i].x),
                                   [&](const auto &copy) { return copy.second == place; });
    };
    std::optional<PrivatePaths> paths;
    if (scratch.there)
        paths.emplace(flow, facts);
    const auto on = [&](const Written &w, const Block &block, u32 next) {
        return paths && paths->closed(block, next) ? std::nullopt : std::optional(w);
    };
    const auto at = solve(flow, at_entry(kernel, facts.target()), step, on);
    Findings found;
    each_state(flow, at, [&](Written &w, u32 i) {
        const Fact &fact = facts[i];
        const bool any = may_read_anything(code[i].x, fact) || scratch.added_by(code[i].x);
        for (const RegisterUse &use : fact.role.uses)
            for (unsigned reg = 0; reg < use.count && !use.write && !any; ++reg)
                if (!w.set.has(use, reg) && !is_copied(i, use.place(reg)) &&
                    !(selects(fact) && has_any(w.set, selectable(use))) &&
                    !(shifts_a_pair(code[i].x, use) && has_any(w.set, use))) {
                    found.push_back({Rule::never_written, i, Finding::nothing,
                                     fmt::format("{}{} is read but not written on any path to here",
                                                 register_name(use.bank, use.first + reg),
                                                 use.high && use.low ? ""
                                                 : use.low           ? ".l"
                                                                     : ".h"),
                                     "write it first, or use another register"});
                    break;
                }
        step(w, i);
    });
    return found;
}

// A comparison has no other effect. If no path leads to a reader, it is useless, or its result was
// overwritten by mistake.
Findings find_lost_compares(const Flow &flow, const Facts &facts) {
    Findings found;
    for (const Block &block : flow.blocks())
        for (u32 i = block.first; i < block.end; ++i) {
            if (!compares(flow.code().instructions[i].x.mnemonic))
                continue;
            std::set<u32> seen;
            std::vector<u32> todo = flow.after(i);
            u32 overwritten = Finding::nothing;
            bool read = false;
            while (!todo.empty() && !read) {
                const u32 next = todo.back();
                todo.pop_back();
                if (!seen.insert(next).second)
                    continue;
                const Fact &fact = facts[next];
                read = fact.reads.intersects(facts[i].writes) || fact.role.jump ||
                       may_keep_scc(flow.code().instructions[next].x.mnemonic);
                if (fact.writes.includes(facts[i].writes)) {
                    overwritten = std::min(overwritten, next);
                    continue;
                }
                const std::vector<u32> after = flow.after(next);
                todo.insert(todo.end(), after.begin(), after.end());
            }
            // Overwritten by another comparison on purpose: code that times comparisons.
            if (!read && (overwritten == Finding::nothing ||
                          !compares(flow.code().instructions[overwritten].x.mnemonic)))
                found.push_back(
                    {Rule::lost_compare, i, overwritten,
                     overwritten == Finding::nothing
                         ? "nothing reads the result"
                         : fmt::format("nothing reads the result before {} overwrites it",
                                       flow.code().instructions[overwritten].text),
                     "move the comparison after that, or remove it"});
        }
    return found;
}

} // namespace nw::lint
