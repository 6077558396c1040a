// SPDX-License-Identifier: MIT
#include "lint/values.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "lint/descriptor.h"
#include "lint/solve.h"

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

Written at_entry(const KernelInfo &kernel, Generation generation) {
    const Descriptor d(kernel, generation);
    Written w;
    for (u32 s = 0; s < std::min(d.enabled_sgprs, d.user_sgprs); ++s)
        w.add(RegisterSet::of_sgpr(s));
    for (u32 s = d.user_sgprs; s < d.user_sgprs + d.system_sgprs; ++s)
        w.add(RegisterSet::of_sgpr(s));
    for (u32 s : {u32{sreg::exec}, u32{sreg::exec} + 1, u32{sreg::m0}})
        w.add(RegisterSet::of_sgpr(s));
    for (u32 s = sreg::ttmp0; s < sreg::null; ++s)
        w.add(RegisterSet::of_sgpr(s));
    for (u32 v = 0; v < d.item_id_vgprs; ++v)
        w.add(RegisterSet::of_vgpr(v));
    return w;
}

// Preserves the part of a register that it doesn't read, or saves a register for its caller.
bool may_read_anything(std::string_view n, const Fact &fact) {
    return n.starts_with("v_writelane") || fact.to_scratch || n.find("_d16_hi") != n.npos;
}

// gfx10: the compiler's prologue adds the wave's offset in scratch memory to the descriptor in
// s[0:3]. A kernel without scratch gets no offset: then the descriptor is as if never written.
struct ScratchOffset {
    bool there = false;
    u32 sgpr = 0;
    ScratchOffset(const KernelInfo &kernel, Generation generation) {
        const Descriptor d(kernel, generation);
        sgpr = d.user_sgprs + d.system_sgprs;
        there = generation == Generation::gfx10 && !(kernel.rsrc2 & 1) && (kernel.properties & 1);
    }
    bool added_by(const Operation &op) const {
        const auto is = [&](size_t n, u32 reg) {
            return op.operands[n].kind == Operand::Kind::sgpr && op.operands[n].reg == reg;
        };
        return there && op.mnemonic == "s_add_u32" && op.operands.size() == 3 && is(0, 0) &&
               is(1, 0) && is(2, sgpr);
    }
};

// A copy between two registers is not a use; a read of the copy is. The upper half of the addend of
// a 64-bit multiply-add counts as a copy into the upper half of the sum.
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

// ---- lanes
// -----------------------------------------------------------------------------------------

// EXEC, and the SGPRs that it can be restored from. After it is narrowed, `rest` refers to its
// previous value: a nested if or loop is assumed to restore the lanes that it turned off.
struct Lanes {
    bool full = true, zero = false;
    std::set<u32> saved; // places of SGPRs that hold all lanes
    std::set<u32> rest;  // places of SGPRs that hold at least the lanes that are off
    bool join(const Lanes &o) {
        const Lanes was = *this;
        std::erase_if(saved, [&](u32 place) { return !o.saved.contains(place); });
        const auto off = [](const Lanes &l, u32 place) {
            return l.full || l.rest.contains(place) || l.saved.contains(place);
        };
        if (full && !o.full)
            rest = o.rest, rest.insert(o.saved.begin(), o.saved.end());
        else
            std::erase_if(rest, [&](u32 place) { return !off(o, place); });
        full &= o.full, zero &= o.zero;
        return full != was.full || zero != was.zero || saved != was.saved || rest != was.rest;
    }
    void forget() {}

    void copy(u32 to, u32 from, const Lanes &was) {
        saved.erase(to), rest.erase(to);
        if (was.saved.contains(from))
            saved.insert(to);
        if (was.rest.contains(from))
            rest.insert(to);
    }
};

bool is_sgpr(const Operand &o) { return o.kind == Operand::Kind::sgpr && !is_exec(o); }

class LaneSteps {
public:
    explicit LaneSteps(const Facts &facts, const Code &code) : facts_(facts), code_(code) {}

    void operator()(Lanes &l, u32 i) const {
        const Operation &op = code_.instructions[i].x;
        const Fact &fact = facts_[i];
        const Lanes was = l;
        for (const RegisterUse &use : fact.role.uses)
            for (u32 reg = use.first; use.write && reg < u32{use.first} + use.count; ++reg)
                forget(l, use.bank, reg, op.mnemonic == "v_writelane_b32" || fact.from_scratch);
        if (fact.role.cmpx) {
            l.full = false;
        } else if (op.mnemonic == "v_writelane_b32" || op.mnemonic == "v_readlane_b32") {
            spill(l, was, op.operands);
        } else if (fact.role.unit == HazardRole::salu && op.operands.size() >= 2) {
            if (is_exec(op.operands[0]) || op.mnemonic.find("_saveexec_") != op.mnemonic.npos)
                write_exec(l, was, op);
            else if (is_sgpr(op.operands[0]))
                write_mask(l, was, op);
        }
    }

private:
    static constexpr u32 most_lanes = 64, spilled = 1024; // places of a VGPR's lanes, from there
    static u32 place(u32 vgpr, i64 lane) {
        return spilled + vgpr * most_lanes + static_cast<u32>(lane) % most_lanes;
    }

    // A VGPR loaded from scratch memory is assumed to be the one stored there.
    static void forget(Lanes &l, RegisterUse::Bank bank, u32 reg, bool keeps_lanes) {
        if (bank == RegisterUse::sgpr) {
            l.saved.erase(reg), l.rest.erase(reg);
        } else if (!keeps_lanes) {
            for (std::set<u32> *places : {&l.saved, &l.rest})
                places->erase(places->lower_bound(place(reg, 0)),
                              places->lower_bound(place(reg + 1, 0)));
        }
    }

    static void spill(Lanes &l, const Lanes &was, const std::vector<Operand> &o) {
        if (o.size() != 3 || o[2].kind != Operand::Kind::integer)
            return;
        if (o[0].kind == Operand::Kind::vgpr && is_sgpr(o[1]))
            l.copy(place(o[0].reg, o[2].integer), o[1].reg, was);
        else if (o[1].kind == Operand::Kind::vgpr && is_sgpr(o[0]))
            l.copy(o[0].reg, place(o[1].reg, o[2].integer), was);
    }

    void write_exec(Lanes &l, const Lanes &was, const Operation &op) const {
        const std::string_view n = op.mnemonic;
        const bool saves = n.find("_saveexec_") != n.npos;
        const Operand &d = op.operands[0], &last = op.operands.back();
        if (saves && was.full && is_sgpr(d))
            l.saved.insert(d.reg);
        l.zero = false;
        l.full = false;
        if (n.starts_with("s_mov_b")) {
            l.full = all(was, last);
            l.zero = last.kind == Operand::Kind::integer && last.integer == 0;
        } else if (n.starts_with("s_or_")) {
            bool exec = saves, rest = false;
            for (size_t o = 1; o < op.operands.size(); ++o) {
                exec |= is_exec(op.operands[o]);
                rest |= off(was, op.operands[o]);
                l.full |= all(was, op.operands[o]);
            }
            l.full |= exec && (rest || was.full);
        } else if (saves && n.starts_with("s_and_not1_") && off(was, last)) {
            l.rest.insert(d.reg); // those that were on, of all of them
        } else if (was.full && is_sgpr(last) && (n.starts_with("s_xor_b") || is_and_not(n))) {
            l.rest.insert(last.reg);
        }
    }

    // Registers that EXEC may be restored from.
    static void write_mask(Lanes &l, const Lanes &was, const Operation &op) {
        const std::string_view n = op.mnemonic;
        const auto &o = op.operands;
        const u32 d = o[0].reg;
        if (n.starts_with("s_mov_b") && is_sgpr(o[1]))
            l.copy(d, o[1].reg, was);
        else if (n.starts_with("s_mov_b") && is_exec(o[1]) && was.full)
            l.saved.insert(d);
        if (o.size() != 3)
            return;
        const bool difference = (n.starts_with("s_xor_b") && ((is_exec(o[1]) && all(was, o[2])) ||
                                                              (is_exec(o[2]) && all(was, o[1])))) ||
                                (is_and_not(n) && off(was, o[1]) && is_exec(o[2]));
        const bool more = n.starts_with("s_or_b") && (was.full || off(was, o[1]) || off(was, o[2]));
        if (difference || more)
            l.rest.insert(d);
    }

    static bool is_and_not(std::string_view n) {
        return n.starts_with("s_and_not1_b") || n.starts_with("s_andn2_b");
    }
    // Whether it holds all lanes; whether it includes all lanes that are off.
    static bool all(const Lanes &l, const Operand &o) {
        return is_exec(o)   ? l.full
               : is_sgpr(o) ? l.saved.contains(o.reg)
                            : o.kind == Operand::Kind::integer && o.integer == -1;
    }
    static bool off(const Lanes &l, const Operand &o) {
        return is_sgpr(o) && (l.rest.contains(o.reg) || l.saved.contains(o.reg));
    }

    const Facts &facts_;
    const Code &code_;
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

RegisterSet written_at_entry(const KernelInfo &kernel, Generation generation) {
    return at_entry(kernel, generation).set.low;
}

std::vector<bool> all_lanes(const Flow &flow, const Facts &facts) {
    const LaneSteps step(facts, flow.code());
    const auto at = solve(flow, Lanes{}, step);
    std::vector<bool> out(flow.code().instructions.size());
    each_state(flow, at, [&](Lanes &l, u32 i) {
        out[i] = l.full;
        step(l, i);
    });
    return out;
}

Findings find_never_written(const Flow &flow, const Facts &facts, const KernelInfo &kernel) {
    const std::vector<Instruction> &code = flow.code().instructions;
    const ScratchOffset scratch(kernel, facts.generation());
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
        w.set.add_all(fresh);
        if (scratch.added_by(code[i].x))
            w.set.low.remove(RegisterSet::of_sgpr(0)), w.set.high.remove(RegisterSet::of_sgpr(0));
    };
    const auto is_copied = [&](u32 i, unsigned place) {
        return std::ranges::any_of(copies(code[i].x),
                                   [&](const auto &copy) { return copy.second == place; });
    };
    const auto at = solve(flow, at_entry(kernel, facts.generation()), step);
    Findings found;
    each_state(flow, at, [&](Written &w, u32 i) {
        const Fact &fact = facts[i];
        const bool any = may_read_anything(code[i].x.mnemonic, fact) || scratch.added_by(code[i].x);
        for (const RegisterUse &use : fact.role.uses)
            for (unsigned reg = 0; reg < use.count && !use.write && !any; ++reg)
                if (!w.set.has(use, reg) && !is_copied(i, use.place(reg))) {
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

Findings find_lanes_off(const Flow &flow, const Facts &facts) {
    const LaneSteps step(facts, flow.code());
    const auto at = solve(flow, Lanes{}, step);
    Findings found;
    each_state(flow, at, [&](Lanes &l, u32 i) {
        const Fact &fact = facts[i];
        const bool stores = fact.to_lds || fact.issues.on[static_cast<size_t>(Counter::store)];
        if (fact.barrier && !l.full)
            found.push_back({Rule::exec_at_barrier, i, Finding::nothing,
                             "lanes of the wave may be off in EXEC",
                             "restore EXEC before, or suppress this with a reason"});
        if (stores && l.zero)
            found.push_back({Rule::exec_zero, i, Finding::nothing,
                             "EXEC is 0 on every path to here: nothing is stored",
                             "restore EXEC before"});
        step(l, i);
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
