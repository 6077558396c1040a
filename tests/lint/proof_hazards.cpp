// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>
#include <set>

#include "lint/proof.h"
#include "sim/isa/code.h"
#include "sim/isa/hazards/hazards.h"
#include "sim/isa/tables/memory_ops.h"

namespace nw::lint::test {

namespace {

using namespace sim;

// All that may have run before an instruction, or may run after it.
std::set<u32> around(const Flow &flow, u32 from, bool before) {
    const auto next = [&](u32 i) { return before ? flow.before(i) : flow.after(i); };
    std::set<u32> seen;
    std::vector<u32> todo = next(from);
    while (!todo.empty()) {
        const u32 i = todo.back();
        todo.pop_back();
        if (seen.insert(i).second)
            std::ranges::move(next(i), std::back_inserter(todo));
    }
    return seen;
}

// How many vector and transcendental instructions lie between.
struct Place {
    u32 instruction;
    unsigned valu = 0, trans = 0;
    auto operator<=>(const Place &) const = default;
};

// Every path from an instruction within H-003's window; `see` returns whether to continue.
void walk(const Flow &flow, Place from, bool before,
          const std::function<bool(const Place &, const HazardRole &)> &see) {
    std::set<Place> seen;
    std::vector<Place> todo{from};
    while (!todo.empty()) {
        const Place at = todo.back();
        todo.pop_back();
        for (u32 i : before ? flow.before(at.instruction) : flow.after(at.instruction)) {
            const HazardRole r = hazard_role(flow.code().instructions[i]);
            Place next{i, at.valu, at.trans};
            if (r.unit == HazardRole::memory || r.va_vdst || r.jump || !see(next, r))
                continue;
            next.valu += r.unit == HazardRole::valu;
            next.trans += r.trans;
            if (next.valu <= trans_window_valu && next.trans <= trans_window_trans + 1 &&
                seen.insert(next).second)
                todo.push_back(next);
        }
    }
}

bool reads_of(const HazardRole &r, const HazardRole &trans) {
    for (const RegisterUse &use : r.uses)
        for (const RegisterUse &w : trans.uses)
            if (!use.write && w.write && use.bank == RegisterUse::vgpr && w.bank == use.bank &&
                use.first < w.first + w.count && w.first < use.first + use.count)
                return true;
    return false;
}

// H-003: a transcendental before it, whose result is read after it, with little between.
bool guards_trans(const Flow &flow, u32 i) {
    bool found = false;
    walk(flow, {i}, true, [&](const Place &back, const HazardRole &trans) {
        if (trans.trans && back.trans <= trans_window_trans)
            walk(flow, {i, back.valu, back.trans}, false,
                 [&](const Place &, const HazardRole &use) {
                     found |= use.unit == HazardRole::valu && reads_of(use, trans);
                     return !found;
                 });
        return !found;
    });
    return found;
}

// H-002, H-005: an earlier vector instruction has read the register that the wait is for.
bool guards_sgprs(const Flow &flow, u32 i, const HazardRole &wait) {
    for (u32 before : around(flow, i, true)) {
        const HazardRole r = hazard_role(flow.code().instructions[before]);
        if (r.unit != HazardRole::valu)
            continue;
        for (const RegisterUse &use : r.uses) {
            const bool vcc = use.first / 2 == sreg::vcc / 2;
            if (!use.write && is_tracked_sgpr(use) &&
                (wait.sa_sdst || (vcc ? wait.va_vcc : wait.va_sdst)))
                return true;
        }
    }
    return false;
}

struct Lds {
    bool read = false, written = false;

    Lds(const Flow &flow, const std::set<u32> &instructions) {
        for (u32 i : instructions) {
            const std::string_view n = flow.code().instructions[i].x.mnemonic;
            const MemoryOp op = find_memory_op(n);
            if (op.access == Access::none || !(n.starts_with("ds_") || n.starts_with("flat_")))
                continue;
            read |= !op.stores();
            written |= !op.loads();
        }
    }
};

} // namespace

bool guards_no_hazard(const Flow &flow, u32 i, std::string_view gfx) {
    const Instruction &inst = flow.code().instructions[i];
    const std::string_view n = inst.x.mnemonic;
    const auto has = [&](Hazard h) { return applies(h, gfx, flow.code().wave_size); };
    if (n == "s_nop")
        return std::ranges::none_of(flow.after(i), [&](u32 next) {
            return hazard_role(flow.code().instructions[next]).dealloc_vgprs;
        });
    if (!alu_limits(inst))
        return false;
    const HazardRole wait = hazard_role(inst);
    if (wait.va_vdst &&
        (has(Hazard::forwarding) || (has(Hazard::trans_use) && guards_trans(flow, i))))
        return false;
    const bool of_sgprs = has(Hazard::read_sgpr) || has(Hazard::mask_write);
    return !of_sgprs || !guards_sgprs(flow, i, wait);
}

bool shares_lds(const Flow &flow, u32 barrier) {
    const Lds before(flow, around(flow, barrier, true)), after(flow, around(flow, barrier, false));
    return (before.written && (after.read || after.written)) || (before.read && after.written);
}

} // namespace nw::lint::test
