// SPDX-License-Identifier: MIT
#include "lint/liveness.h"

#include <algorithm>
#include <array>

#include "lint/lanes.h"
#include "lint/solve.h"
#include "lint/values.h"
#include "sim/isa/code.h"

namespace nw::lint {

using namespace sim;

namespace {

constexpr size_t levels = 4; // of nested masks; deeper nesting is merged

// Live registers: `lanes[0]` for the active lanes, `lanes[n]` for the lanes active after EXEC has
// grown n times. Low halves and SGPRs are in `low`, high halves in `high`.
struct Live {
    struct Set {
        RegisterSet low, high;
        bool add_all(const Set &o) {
            const bool news = low.add_all(o.low);
            return high.add_all(o.high) || news;
        }
        void remove_all(const Set &o) { low.remove_all(o.low), high.remove_all(o.high); }
    };
    std::array<Set, levels> lanes;

    bool add_all(const Live &o) {
        bool news = false;
        for (size_t n = 0; n < levels; ++n)
            news |= lanes[n].add_all(o.lanes[n]);
        return news;
    }
    // Backwards over an instruction that widens EXEC.
    void grew() {
        lanes[levels - 1].add_all(lanes[levels - 2]);
        for (size_t n = levels - 2; n > 0; --n)
            lanes[n] = lanes[n - 1];
    }
    // Backwards over one that replaces EXEC.
    void switched() { lanes[1].add_all(lanes[0]); }
    // Backwards over one that narrows EXEC: the first level includes the lanes it turned off.
    void narrowed() {
        lanes[0].add_all(lanes[1]);
        for (size_t n = 1; n + 1 < levels; ++n)
            lanes[n] = lanes[n + 1];
    }
    void had_all() {
        lanes[0] = all();
        for (size_t n = 1; n < levels; ++n)
            lanes[n] = {};
    }
    Set all() const {
        Set out;
        for (const Set &set : lanes)
            out.add_all(set);
        return out;
    }
};

enum class ExecChange : u8 { none, had_all, narrows, switches, grows };

ExecChange exec_change(const Instruction &inst, const Fact &fact, bool had_all) {
    const std::string_view n = inst.x.mnemonic;
    const auto &o = inst.x.operands;
    if (!fact.role.cmpx && !fact.role.writes_exec)
        return ExecChange::none;
    if (had_all)
        return ExecChange::had_all;
    const auto reads = [&](size_t k) { return k < o.size() && is_exec(o[k]); };
    const bool saves = n.find("saveexec") != n.npos || n.find("wrexec") != n.npos;
    if (n.starts_with("s_xor_"))
        return ExecChange::switches;
    if (fact.role.cmpx || (n.starts_with("s_and_b") && (reads(1) || reads(2))) ||
        (n.starts_with("s_and") && (saves || reads(1))))
        return ExecChange::narrows;
    if (n.starts_with("s_and") && reads(2))
        return ExecChange::switches; // s_and_not1_b32 exec_lo, s0, exec_lo
    if (n.starts_with("s_mov_b") && o.size() == 2 && o[1].kind == Operand::Kind::integer &&
        o[1].integer != -1)
        return ExecChange::narrows;
    return ExecChange::grows;
}

// Transfer function of an instruction.
struct Step {
    Live::Set reads, writes, ends; // ends: writes that preserve nothing
    Live::Set written;             // writes, and what M0 may select instead
    RegisterSet for_all;           // ends for all lanes: SGPRs
    ExecChange exec = ExecChange::none;
};

void add(Live::Set &set, const RegisterUse &use) {
    for (unsigned n = 0; n < use.count; ++n) {
        if (use.low)
            set.low.add(use.place(n));
        if (use.high && use.bank == RegisterUse::vgpr)
            set.high.add(use.place(n));
    }
}

// May preserve some active lanes, or write registers that it does not name.
bool leaves_lanes(const Operation &op) {
    if (relative_move(op.mnemonic))
        return true;
    if (!op.dpp || op.has("dpp8"))
        return false;
    return !op.has("bound_ctrl") || op.value("row_mask", 15) != 15 ||
           op.value("bank_mask", 15) != 15;
}

Step step_of(const Instruction &inst, const Fact &fact, bool had_all) {
    Step s;
    const bool leaves = leaves_lanes(inst.x);
    for (const RegisterUse &use : fact.role.uses) {
        add(use.write ? s.writes : s.reads, use);
        if (!use.write || leaves)
            continue;
        add(s.ends, use);
        if (use.bank == RegisterUse::sgpr)
            for (unsigned n = 0; n < use.count; ++n)
                s.for_all.add(use.place(n));
    }
    RegisterHalves selected;
    add_selectable(selected, fact);
    s.written = s.writes;
    s.written.add_all({selected.low, selected.high});
    s.exec = exec_change(inst, fact, had_all);
    return s;
}

// Live before the instruction, from live after it.
void back(Live &live, const Step &step) {
    switch (step.exec) {
    case ExecChange::none:
        break;
    case ExecChange::had_all:
        live.had_all();
        break;
    case ExecChange::narrows:
        live.narrowed();
        break;
    case ExecChange::switches:
        live.switched();
        break;
    case ExecChange::grows:
        live.grew();
    }
    live.lanes[0].remove_all(step.ends);
    for (size_t n = 1; n < levels; ++n)
        live.lanes[n].low.remove_all(step.for_all);
    live.lanes[0].add_all(step.reads);
}

struct Written {
    Live::Set set; // written on some path to here
    bool join(const Written &o) { return set.add_all(o.set); }
    void forget() { // a call may have written anything
        for (unsigned n = 0; n < RegisterSet::vgprs + RegisterSet::sgprs; ++n)
            set.low.add(n), set.high.add(n);
    }
};

Written at_entry(const KernelInfo &kernel, const Target &target) {
    const RegisterSet set = written_at_entry(kernel, target);
    return {{set, set}};
}

RegisterSet common(const RegisterSet &a, const RegisterSet &b) {
    RegisterSet out = a, missing = a;
    missing.remove_all(b);
    out.remove_all(missing);
    return out;
}

} // namespace

Liveness::Liveness(const Flow &flow, const Facts &facts, const KernelInfo &kernel)
    : first_(flow.first()) {
    const std::vector<Block> &blocks = flow.blocks();
    const u32 end = flow.end();
    const std::vector<bool> full = all_lanes(flow, facts);
    std::vector<Step> steps(end - first_);
    for (const Block &b : blocks)
        for (u32 i = b.first; i < b.end; ++i)
            steps[i - first_] = step_of(flow.code().instructions[i], facts[i], full[i]);

    std::vector<Live> begins(blocks.size());
    const auto end_of = [&](u32 n) {
        Live live;
        for (u32 next : blocks[n].next)
            live.add_all(begins[next]);
        return live;
    };
    for (bool news = true; news;) {
        news = false;
        for (u32 n = static_cast<u32>(blocks.size()); n-- > 0;) {
            Live live = end_of(n);
            for (u32 i = blocks[n].end; i-- > blocks[n].first;)
                back(live, steps[i - first_]);
            news |= begins[n].add_all(live);
        }
    }

    const auto written = solve(flow, at_entry(kernel, facts.target()), [&](Written &w, u32 i) {
        w.set.add_all(steps[i - first_].written);
    });
    counts_.resize(end - first_);
    std::vector<Live::Set> before; // of the instructions of a block, last first
    for (u32 n = 0; n < blocks.size(); ++n) {
        before.clear();
        Live live = end_of(n);
        for (u32 i = blocks[n].end; i-- > blocks[n].first;) {
            back(live, steps[i - first_]);
            before.push_back(live.all());
        }
        Written w = *written[n];
        for (u32 i = blocks[n].first; i < blocks[n].end; ++i) {
            Live::Set there = before[blocks[n].end - 1 - i];
            RegisterSet room = common(there.low, w.set.low);
            room.add_all(common(there.high, w.set.high));
            room.add_all(steps[i - first_].writes.low);
            room.add_all(steps[i - first_].writes.high);
            counts_[i - first_] = {static_cast<u16>(room.count(0, RegisterSet::vgprs)),
                                   static_cast<u16>(room.count(
                                       RegisterSet::vgprs, RegisterSet::vgprs + sreg::vcc + 2))};
            w.set.add_all(steps[i - first_].written);
        }
    }
    peak_ = blocks.front().first;
    for (u32 i = first_; i < end; ++i)
        if (flow.reaches(i) && vgprs(i) > vgprs(peak_))
            peak_ = i;
}

} // namespace nw::lint
