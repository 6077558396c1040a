// SPDX-License-Identifier: MIT
// The VALU: dispatch, execution, forwarding (T-050), and the extra costs of slow instructions
// (T-053, T-054).
#include "sim/timing/core/simd.h"

namespace nw::sim::timing {

void Core::prepare_valu(TimedWave &w, const OpFacts &f) {
    need(w, w.delayed_until, Stall::delay);
    const ValuPipe &pipe = simds[w.simd].valu;
    need(w, pipe.queue.room(c_.valu_queue), Stall::valu_queue);
    if (f.trans)
        need(w, std::max(pipe.trans_dispatch, pipe.trans.room(c_.trans_queue)), Stall::valu_busy);
    if (f.wmma &&
        !w.after_wmma) // one that overwrites an earlier one's D waits until that has begun
        for (const auto &r : f.vgpr_writes)
            for (u32 n = 0; n < r.count; ++n)
                if (w.vgpr_of_wmma[r.first + n])
                    need(w, w.vgpr[r.first + n] - std::min<u64>(w.vgpr[r.first + n], f.latency),
                         Stall::valu_queue);
    for (const auto &r : f.sgpr_reads)
        for (u32 n = 0; n < r.count; ++n)
            need(w, w.sgpr_for_valu[r.first + n], Stall::scalar);
    if (f.sgpr_result || !f.sgpr_writes.empty())
        need(w, w.salu_done, Stall::scalar);
    for (const auto &r : f.vgpr_writes)
        for (u32 n = 0; n < r.count; ++n)
            need(w, w.vgpr_read[r.first + n], Stall::valu);
}

// A scalar instruction that writes an SGPR waits until VALU instructions have read theirs, EXEC
// aside.
void Core::read_sgprs(TimedWave &w, const OpFacts &f, u64 now) {
    for (const auto &r : f.sgpr_reads)
        if (r.first < sreg::exec)
            w.sgpr_read = std::max(w.sgpr_read, now + c_.valu_sgpr_read);
}

// Finalizes executions that recent dispatches kept on time.
void Core::confirm(Simd &simd, u64 now) {
    if (!simd.any_unsettled)
        return;
    simd.any_unsettled = false;
    for (const auto &wave : simd.waves) {
        TimedWave &w = *wave;
        if (w.unsettled.empty())
            continue;
        size_t kept = 0;
        u64 shift = 0;
        for (TimedWave::Unsettled u : w.unsettled) {
            u.execution += shift;
            if (u.dependent && u.execution <= now &&
                u.execution > simd.valu.last_dispatch + c_.forward_window) {
                shift += c_.valu_late; // no dispatch came in time
                u.execution += c_.valu_late;
                u.dependent = false;
            }
            if (shift)
                shift_results(w, m_.facts.ops[u.index], u.execution - shift, shift);
            if (u.dependent && u.execution > now + c_.forward_window)
                w.unsettled[kept++] = u;
        }
        w.unsettled.resize(kept);
        simd.any_unsettled |= kept != 0;
        w.last_execution += shift;
    }
}

// No dispatch precedes the unsettled executions: all of them are late. With other waves on the SIMD
// one of them dispatches.
void Core::settle(TimedWave &w) {
    if (w.unsettled.empty())
        return;
    u64 shift = 0;
    if (simds[w.simd].waves.size() == 1)
        for (const TimedWave::Unsettled &u : w.unsettled) {
            shift += u.dependent ? c_.valu_late : 0;
            shift_results(w, m_.facts.ops[u.index], u.execution, shift);
            for (u32 n = 0; n < std::size(w.queue); ++n)
                if (w.queue[n] == u.execution)
                    w.queue[n] += shift;
            if (u.event < w.events.size())
                w.events[u.event].done += shift;
        }
    w.unsettled.clear();
    w.last_execution += shift;
    w.busy_until += shift;
    simds[w.simd].valu.last_execution += shift;
}

// VCC is forwarded to the next instruction.
u32 Core::mask_latency(const OpFacts &f, u32 sgpr) const {
    return sgpr == sreg::vcc || sgpr == sreg::vcc + 1 ? c_.vcc_latency : f.latency;
}

// Only registers not overwritten since: a chain on one register is delayed once, not per link.
void Core::shift_results(TimedWave &w, const OpFacts &f, u64 execution, u64 by) {
    const auto shift = [by](u64 &at, u64 was) { at += at == was ? by : 0; };
    for (const auto &r : f.vgpr_writes)
        for (u32 n = 0; n < r.count; ++n)
            shift(w.vgpr[r.first + n], execution + f.latency);
    for (const auto &r : f.sgpr_writes)
        for (u32 n = 0; n < r.count; ++n) {
            shift(w.sgpr[r.first + n], execution + c_.valu_to_scalar);
            shift(w.mask_execution[r.first + n], execution + mask_latency(f, r.first + n));
        }
}

void Core::write_results(TimedWave &w, const OpFacts &f, u64 execution) {
    for (const auto &r : f.vgpr_writes)
        for (u32 n = 0; n < r.count; ++n) {
            w.vgpr[r.first + n] = execution + f.latency;
            w.vgpr_early[r.first + n] = f.trans  ? static_cast<u8>(f.latency - f.trans_latency)
                                        : f.wmma ? static_cast<u8>(c_.wmma_to_valu)
                                                 : 0;
            w.vgpr_of_wmma[r.first + n] = f.wmma;
            w.vgpr_forwarded[r.first + n] = f.latency <= c_.valu_latency;
        }
    for (const auto &r : f.sgpr_writes)
        for (u32 n = 0; n < r.count; ++n) {
            w.sgpr[r.first + n] = execution + c_.valu_to_scalar;
            w.sgpr_for_valu[r.first + n] = 0;
            w.mask_execution[r.first + n] = execution + mask_latency(f, r.first + n);
            if (r.first + n == sreg::vcc)
                w.vcc_result = std::max(w.vcc_result, execution + c_.valu_to_scalar);
        }
}

namespace {

bool reads_as_accumulator(const OpFacts &f, u32 reg) {
    for (const auto &r : f.accumulators)
        if (reg >= r.first && reg < r.first + u32{r.count})
            return true;
    return false;
}

// When a VGPR may be read; earlier by an instruction of the same kind as its writer.
u64 source(const TimedWave &w, u32 reg, bool trans, bool accumulator) {
    const bool early = w.vgpr_of_wmma[reg] ? accumulator : trans;
    return w.vgpr[reg] - (early ? w.vgpr_early[reg] : 0);
}

} // namespace

// When a WMMA may overwrite what an earlier one writes.
u64 Core::overwritten(const TimedWave &w, const OpFacts &f) const {
    u64 at = 0;
    for (const auto &r : f.vgpr_writes)
        for (u32 n = 0; n < r.count; ++n)
            if (w.vgpr_of_wmma[r.first + n] && !reads_as_accumulator(f, r.first + n))
                at = std::max(at, w.vgpr[r.first + n] - c_.wmma_to_valu + c_.wmma_overwrite);
    return at;
}

// When a WMMA or what is behind one leaves the SIMD's dispatch stage: when the matrix unit's queue
// has room.
u64 Core::leave_stage(ValuPipe &pipe, u64 executed) const {
    const u64 room = pipe.matrix.room(c_.wmma_queue);
    pipe.matrix.enter(executed + c_.wmma_leave);
    return room;
}

// False if another wave of this cycle took the place: retry later.
bool Core::execute_valu(Simd &simd, TimedWave &w, const OpFacts &f, u64 now, u64 &done,
                        u64 &port_free) {
    ValuPipe &pipe = simd.valu;
    const u64 room =
        std::max(pipe.queue.room(c_.valu_queue),
                 f.trans ? std::max(pipe.trans_dispatch, pipe.trans.room(c_.trans_queue)) : 0);
    if (room > now)
        return refuse(w, room, Stall::valu_busy, now);
    const bool cold = !pipe.used || now > pipe.last_execution + c_.valu_idle;
    const bool first_wmma = f.wmma && now > pipe.wmma_until;
    u64 base = now + (first_wmma ? c_.wmma_ready : c_.valu_ready);
    if (f.vgpr_source && !first_wmma)
        base = cold ? now + c_.valu_cold_ready
                    : std::max(now + c_.valu_vgpr_ready, pipe.cold_start + c_.valu_warm_up);
    u64 sources = 0;
    bool forwarded = false; // any source is forwarded
    for (const auto &r : f.vgpr_reads)
        for (u32 n = 0; n < r.count; ++n)
            if (const u64 there = source(w, r.first + n, f.trans, false); there > sources)
                sources = there, forwarded = w.vgpr_forwarded[r.first + n];
    for (const auto &r : f.accumulators)
        for (u32 n = 0; n < r.count; ++n)
            sources = std::max(sources, source(w, r.first + n, false, true));
    for (const auto &r : f.sgpr_reads)
        for (u32 n = 0; n < r.count; ++n)
            sources = std::max(sources, w.mask_execution[r.first + n]);
    if (f.wmma)
        sources = std::max(sources, overwritten(w, f));
    const u32 length = f.trans ? passes_ : f.wmma ? f.interval : f.interval * passes_;
    u64 at = std::max({base, sources, w.busy_until, pipe.executed});
    const bool dependent = sources > base && sources >= w.busy_until && sources >= pipe.executed;
    if (f.trans)
        at = std::max(at, pipe.trans_free);
    else if (f.wmma && pipe.trans_free > at) // beside the TRANS unit's last cycle
        at = pipe.trans_free - 1;
    const bool late_possible =
        forwarded && dependent && at == sources && at > pipe.last_execution + c_.forward_gap;
    confirm(simd, now);
    pipe.queue.enter(at - 1); // free in the cycle before
    if (f.trans) {
        pipe.trans.enter(at - std::min<u64>(at, c_.valu_ready));
        pipe.trans_free = at + u64{f.interval} * passes_;
        pipe.trans_dispatch = now + u64{f.interval} * passes_;
    } else {
        pipe.executed = at + length;
    }
    if (cold)
        pipe.cold_start = now;
    pipe.used = true;
    pipe.last_dispatch = now;
    pipe.last_execution = std::max(pipe.last_execution, at + length - 1);
    w.last_execution = std::max(w.last_execution, at + length - 1);
    w.busy_until = at + length;
    w.queue[w.queue_at++ % std::size(w.queue)] = at;
    w.after_wmma = f.wmma;
    port_free = now + (f.trans || f.wmma ? 1 : length);
    if (f.wmma || (pipe.wmma_until > now && !f.trans))
        port_free = std::max(port_free, leave_stage(pipe, at + length));
    if (f.wmma)
        pipe.wmma_until = at + length;
    w.dispatches[w.dispatched % std::size(w.dispatches)] = now;
    w.dispatch_latency[w.dispatched++ % std::size(w.dispatches)] =
        static_cast<u8>(std::min<u32>(f.latency, 255));
    if (f.trans)
        w.trans_dispatches[w.trans_dispatched++ % std::size(w.trans_dispatches)] = now;
    read_sgprs(w, f, now);
    if (f.sgpr_result)
        w.sgpr_result = std::max(w.sgpr_result, at + c_.valu_to_scalar);
    write_results(w, f, at);
    if ((late_possible || !w.unsettled.empty()) && at > now + c_.forward_window &&
        simd.waves.size() == 1) {
        w.unsettled.push_back({at, late_possible, w.index, w.events.size()});
        simd.any_unsettled = true;
    }
    (f.wmma ? result.busy.wmma : result.busy.valu) += length;
    result.busy.trans += f.trans ? f.interval * passes_ : 0;
    done = at;
    return true;
}

// s_delay_alu: the next instruction waits as if it depended on the named one.
void Core::delay(TimedWave &w, u8 code) {
    u64 until = 0;
    if (code >= 1 && code <= 4 && w.dispatched >= code) {
        const u32 n = (w.dispatched - code) % std::size(w.dispatches);
        until = w.dispatches[n] + w.dispatch_latency[n];
    } else if (code >= 5 && code <= 7 && w.trans_dispatched >= code - 4u) {
        until =
            w.trans_dispatches[(w.trans_dispatched - (code - 4)) % std::size(w.trans_dispatches)] +
            c_.trans_latency;
    } else if (code >= 9 && code <= 11) {
        until = w.last_salu + c_.salu_latency + (code - 9u);
    }
    w.delayed_until = std::max(w.delayed_until, until);
}

} // namespace nw::sim::timing
