// SPDX-License-Identifier: MIT
// Illegal accesses of a launch that goes on after them (RunConfig::findings).
#include "sim/func/launch/report.h"
#include "sim/func/launch/workgroup.h"
#include "sim/isa/uses.h"

namespace nw::sim {

// The fault of an instruction discards the count of those before it: a time slice at most.
u64 Workgroup::run_on(Wave &w, u64 budget) {
    while (budget && w.state == State::running) {
        try {
            return run_instructions(w, budget);
        } catch (const Fault &found) {
            if (found.kind != Fault::Kind::illegal_address || !c_.config.findings->take(found))
                throw;
            --budget;
            leave_out(w, found);
        }
    }
    return budget;
}

// Runs the instruction again without the lanes that access what they must not; they load 0. A wave
// whose address is scalar can't go on with a value that it doesn't have: it ends.
void Workgroup::leave_out(Wave &w, const Fault &found) {
    const Inst &i = *(w.pc - 1);
    const u64 lanes = w.exec_mask();
    u64 left = lanes, bad = 0;
    auto report = found.report;
    for (bool again = true; again;) {
        const u64 lane = report && report->lane >= 0 ? u64{1} << report->lane : 0;
        if (!(left & lane)) {
            w.state = State::ended;
            break;
        }
        bad |= lane;
        left &= ~lane;
        if (lane >> row_lanes) // the lower half is done
            left &= ~u64{0xffffffff};
        w.s[sreg::exec] = static_cast<u32>(left);
        w.s[sreg::exec + 1] = static_cast<u32>(left >> row_lanes);
        again = false;
        try {
            if (left)
                i.run(w, i);
        } catch (const Fault &next) {
            if (next.kind != Fault::Kind::illegal_address || !c_.config.findings->take(next))
                throw;
            report = next.report;
            again = true;
        }
    }
    w.s[sreg::exec] = static_cast<u32>(lanes);
    w.s[sreg::exec + 1] = static_cast<u32>(lanes >> row_lanes);
    for (const RegisterUse &use : register_uses(c_.code.code->instructions[i.index]))
        for (unsigned n = 0; use.write && use.bank == RegisterUse::vgpr && n < use.count; ++n)
            for (unsigned half = 0; half < halves_; ++half)
                for_lanes(static_cast<u32>(bad >> row_lanes * half),
                          [&](unsigned l) { w.row((use.first + n) & 255, half)[l] = 0; });
}

} // namespace nw::sim
