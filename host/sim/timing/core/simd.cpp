// SPDX-License-Identifier: MIT
// When a wave's next instruction may issue, and the effects of its issue. VALU: simd_valu.cpp;
// memory: simd_memory.cpp.
#include "sim/timing/core/simd.h"

#include <bit>

#include "sim/timing/memory/memory_units.h"

namespace nw::sim::timing {

using Kind = OpFacts::Kind;

namespace {

constexpr Stall waits_for[] = {Stall::wait_load, Stall::wait_store, Stall::wait_lds,
                               Stall::wait_scalar};

} // namespace

Core::Core(const Machine &m, const Code &code, u32 passes)
    : simds(u64{m.part.wgps} * simds_per_wgp), last_answer(m.watcher), m_(m), c_(m.costs),
      passes_(passes), cus_(m.part.cus()), fetched_(m.part.wgps) {
    for (u32 n = 0; n < simds.size(); ++n)
        simds[n].number = n;
    const u64 bytes = code.instructions.empty()
                          ? 0
                          : code.instructions.back().offset + code.instructions.back().size;
    code_lines_ = static_cast<u32>(bytes / code_line + 1);
    // Code that fits stays in the cache; otherwise every line is requested again.
    if (bytes <= m.part.instruction_size)
        for (auto &lines : fetched_)
            lines.resize(code_lines_, never);
}

void Simd::add(std::unique_ptr<TimedWave> wave) {
    ready[waves.size()] = wave->ready;
    waves.push_back(std::move(wave));
}

void Simd::remove(size_t slot) {
    waves.erase(waves.begin() + static_cast<long>(slot));
    std::copy(ready + slot + 1, std::end(ready), ready + slot);
    ready[waves.size()] = never;
}

void Core::begin(TimedWave &w, u64 at) {
    w.started = w.next = at;
    w.after = at + c_.wave_start;
    w.after_why = Stall::start;
    if (m_.changes.loads_earlier)
        w.earlier = std::make_unique<EarlierLoads>(m_.facts.ops.size());
    if (!w.live)
        leave_out_absent(w);
    w.index = w.live ? w.live->pc->index : w.reader.index();
    prepare(w);
}

// ---- when it may issue --------------------------------------------------------------------------

void Core::prepare(TimedWave &w) {
    const OpFacts &f = m_.facts.ops[w.index];
    w.ready = w.after;
    w.why = w.after > w.next ? w.after_why : Stall::none;
    w.refused = 0;
    fetch(w);
    switch (f.unit) {
    case Unit::valu:
        return prepare_valu(w, f);
    case Unit::vmem:
    case Unit::lds:
        return prepare_memory(w, f);
    case Unit::smem:
        need(w, w.flights[static_cast<int>(Counter::smem)].at_most(c_.scalar_counter - 1),
             Stall::counter);
        need(w, w.salu_done, Stall::scalar);
        if (w.earlier)
            need(w, w.earlier->arrival(f), Stall::wait_load);
        break;
    default:
        break;
    }
    if (f.immediate && !w.after_immediate && w.next)
        need(w, std::max(w.next - 1, w.data_sent) + c_.immediate_issue, Stall::nop);
    if (f.kind == Kind::wait)
        return prepare_wait(w, f);
    if (w.earlier && f.conditional)
        need(w, w.earlier->arrival(f), Stall::wait_load);
    if (f.unit == Unit::salu && !w.unsettled.empty())
        settle(w);
    if (f.unit == Unit::salu)
        need(w, f.sgpr_writes.empty() ? w.sgpr_result : std::max(w.sgpr_read, w.sgpr_result),
             Stall::scalar);
    for (const auto &r : f.sgpr_reads)
        for (u32 n = 0; n < r.count; ++n)
            need(w, w.sgpr[r.first + n], Stall::scalar);
    if (f.kind == Kind::end && c_.endpgm_waits)
        need(w, end_of(w, 0), Stall::wait_store);
    if (f.kind == Kind::branch && f.reads_scc)
        need(w, w.sgpr[sreg::scc] ? w.sgpr[sreg::scc] - c_.salu_latency + c_.scc_to_branch : 0,
             Stall::scalar);
    if (f.kind == Kind::barrier_wait && ++w.waits > w.group->phase)
        w.ready = never;
    else if (f.kind == Kind::barrier_wait)
        need(w, w.group->phase_at, Stall::barrier);
}

void Core::fetch(TimedWave &w) {
    const u32 line = m_.facts.ops[w.index].line;
    if (line == w.line)
        return;
    w.line = line;
    const u32 wgp = w.simd / simds_per_wgp;
    auto &fetched = fetched_[wgp];
    const auto ask = [&](u32 l) {
        if (l < fetched.size() && fetched[l] != never)
            return fetched[l]; // there, or on its way
        const u64 at = m_.memory.instructions(w.ready, wgp, m_.code_address + u64{l} * code_line);
        for (const u32 both : {l, l ^ 1}) // a line is two blocks
            if (both < fetched.size() && fetched[both] == never)
                fetched[both] = at;
        return at;
    };
    const u64 there = ask(line);
    if (line + c_.instruction_prefetch < code_lines_)
        ask(line + c_.instruction_prefetch);
    need(w, there, Stall::fetch);
}

void Core::prepare_wait(TimedWave &w, const OpFacts &f) {
    for (size_t n = 0; n < std::size(waits_for); ++n)
        if (const u32 limit = f.limits.limit[n]; limit != WaitLimits::unlimited) {
            const u64 at = w.flights[n].at_most(limit);
            const bool earlier = w.earlier && waits_for[n] == Stall::wait_load;
            need(w, earlier ? w.earlier->wait(w.index, at) : at, waits_for[n]);
        }
    if (f.va_vdst < 15) { // of VALU instructions, the newest may be unfinished
        settle(w);
        const u32 newest = f.va_vdst;
        if (w.queue_at > newest)
            need(w, w.queue[(w.queue_at - 1 - newest) % std::size(w.queue)] + c_.valu_latency,
                 Stall::valu);
    }
    if (f.waits_vcc || f.waits_sgpr)
        settle(w);
    need(w,
         std::max({f.waits_salu ? w.salu_done : 0, f.waits_vcc ? w.vcc_result : 0,
                   f.waits_sgpr ? w.sgpr_result : 0}),
         Stall::scalar);
}

// ---- issue --------------------------------------------------------------------------------------

// The resource is taken by another wave: retry at `until`.
bool Core::refuse(TimedWave &w, u64 until, Stall why, u64 now) {
    w.refused += until - now;
    w.refused_by = why;
    w.ready = until;
    return false;
}

// True if the instruction's unit accepts it now; otherwise the wave retries. For a VALU instruction
// `done` is then its execution time.
bool Core::enter(Simd &simd, TimedWave &w, const OpFacts &f, u64 now, u64 &done, u64 &port_free) {
    const ComputeUnit &cu = cus_[simd.number / 2];
    if (const u64 port = simd.unit_free[static_cast<size_t>(f.unit)]; port > now)
        return refuse(w, port, Stall::port, now);
    if (f.unit == Unit::vmem && cu.address_free > now + c_.vmem_backlog)
        return refuse(w, cu.address_free - c_.vmem_backlog, Stall::memory_busy, now);
    if (f.unit == Unit::lds && cu.lds_free > now + c_.lds_backlog)
        return refuse(w, cu.lds_free - c_.lds_backlog, Stall::lds_busy, now);
    return f.unit != Unit::valu || execute_valu(simd, w, f, now, done, port_free);
}

// Counts the instruction and the wave's lost cycles before it.
void Core::account(const TimedWave &w, u64 lost) {
    LineCost &line = result.lines[w.index];
    ++line.issued;
    ++result.insts;
    const u64 refused = std::min(w.refused, lost);
    for (Stalls *stalls : {&line.stalls, &result.stalls}) {
        (*stalls)[static_cast<size_t>(w.refused_by)] += refused;
        (*stalls)[static_cast<size_t>(w.why)] += lost - refused;
    }
}

// Executes a live wave's instruction functionally at its issue.
void Core::run_live(TimedWave &w, const OpFacts &f, u64 now) {
    w.live->cycles = now;
    w.group->workgroup->step(*w.live);
    if (f.kind == Kind::barrier_wait)
        w.group->workgroup->release_waiting();
}

void Core::try_issue(Simd &simd, TimedWave &w, u64 now) {
    const OpFacts &f = m_.facts.ops[w.index];
    u64 done = now, port_free = now + 1;
    if (!enter(simd, w, f, now, done, port_free))
        return;
    const u64 lost = now - w.next;
    account(w, lost);
    last_answer.bytes = 0;
    if (m_.watcher)
        last_answer.dram_before = dram_bytes();
    if (w.live)
        run_live(w, f, now);
    if (f.unit == Unit::vmem)
        done = memory(simd, w, f, now);
    else if (f.unit == Unit::lds)
        done = lds(simd, w, f, now);
    else if (f.unit == Unit::smem)
        done = scalar_load(simd, w, now);
    else if (f.unit == Unit::salu)
        done = scalar(w, f, now, port_free);
    simd.unit_free[static_cast<size_t>(f.unit)] = port_free;
    if (w.earlier)
        w.earlier->issued(f, done, c_);
    if (m_.watcher) {
        const Stall why = w.refused ? w.refused_by : w.why;
        w.events.push_back({w.group->number, w.number, w.simd, w.index, now, done,
                            lost ? why : Stall::none, lost, last_answer.bytes,
                            static_cast<u32>(dram_bytes() - last_answer.dram_before),
                            last_answer.level});
    }
    // A VALU instruction that waits in the dispatch stage holds up its wave.
    go_on(simd, w, f, now, f.unit == Unit::valu ? port_free : now + 1);
}

// Advances to the next instruction, and computes when it may issue.
void Core::go_on(Simd &simd, TimedWave &w, const OpFacts &f, u64 now, u64 next) {
    w.next = now + 1;
    w.after_immediate = f.immediate;
    w.after = next;
    w.after_why = next > now + 1 ? Stall::valu_busy : Stall::none;
    if (f.kind == Kind::end) {
        w.ended = true;
        w.ready = never;
        return;
    }
    if (w.second_delay_in && --w.second_delay_in == 0)
        delay(w, w.second_delay);
    advance(w);
    if (f.kind != Kind::plain)
        control(simd, w, f, now);
    if (!w.ended && w.ready != never)
        prepare(w);
}

u64 Core::scalar(TimedWave &w, const OpFacts &f, u64 now, u64 &port_free) {
    port_free = now + f.interval;
    w.last_salu = now;
    w.salu_done = std::max(w.salu_done, now + f.execution + c_.salu_to_others);
    ++result.busy.salu;
    for (const auto &r : f.sgpr_writes)
        for (u32 n = 0; n < r.count; ++n) {
            w.sgpr[r.first + n] = now + f.latency;
            w.sgpr_for_valu[r.first + n] = now + f.execution + c_.salu_to_others;
            w.mask_execution[r.first + n] = 0;
        }
    return now + f.latency;
}

// Halves of WhatIf::pairs that issue with their other half.
void Core::leave_out_absent(TimedWave &w) const {
    while (w.reader.more() && m_.facts.ops[w.reader.index()].absent)
        w.reader.next();
}

// Advances to the next instruction.
void Core::advance(TimedWave &w) {
    w.ready = 0;
    if (w.live) {
        w.ended = w.live->state == State::ended;
        w.index = w.live->pc->index;
        w.reader = TraceReader(*w.record);
        w.record->clear();
        return;
    }
    w.reader.next();
    leave_out_absent(w);
    if (w.reader.more())
        w.index = w.reader.index();
    else
        w.ended = true, w.ready = never;
}

void Core::control(Simd &simd, TimedWave &w, const OpFacts &f, u64 now) {
    switch (f.kind) {
    case Kind::branch: {
        const bool taken = !f.conditional || m_.facts.ops[w.index].offset != f.next_offset;
        w.after = now + (taken ? c_.branch_taken : c_.branch_not_taken);
        w.after_why = Stall::branch;
        break;
    }
    case Kind::nop:
        w.after = now + static_cast<u64>(f.count) + 1;
        if (static_cast<u32>(f.count) >= c_.nop_doze) // published up to 22, which is past the end
            w.after += c_.nop_wake;
        w.after_why = Stall::nop;
        break;
    case Kind::sleep:
        w.after = now + std::max<u64>(1, static_cast<u64>(f.count));
        w.after_why = Stall::nop;
        break;
    case Kind::priority:
        w.priority = f.count;
        simd.highest = std::max(simd.highest, f.count);
        break;
    case Kind::delay:
        delay(w, f.delay[0]);
        w.second_delay = f.delay[1];
        w.second_delay_in = f.delay_skip;
        if (f.delay_skip == 0)
            delay(w, f.delay[1]);
        break;
    case Kind::barrier:
        w.after_why = Stall::barrier;
        if (w.group->waves.size() == 1) { // alone: a NOP
            if (w.live)
                w.group->workgroup->release_waiting();
            break;
        }
        w.ready = never;
        ++w.waits;
        arrive(*w.group, now);
        break;
    case Kind::barrier_signal:
        arrive(*w.group, now);
        break;
    case Kind::barrier_wait:
        w.after_why = Stall::barrier;
        break;
    default:
        break;
    }
}

// ---- barriers -----------------------------------------------------------------------------------

void Core::arrive(TimedGroup &group, u64 now) {
    ++group.arrived;
    arrive_if_complete(group, now);
}

void Core::arrive_if_complete(TimedGroup &group, u64 now) {
    if (group.arrived == 0 || group.arrived < group.live)
        return;
    group.arrived = 0;
    ++group.phase;
    group.phase_at = now + c_.barrier;
    if (group.workgroup)
        group.workgroup->release_waiting();
    for (TimedWave *w : group.waves)
        if (w->ready == never && !w->ended && w->waits <= group.phase) {
            const OpFacts &f = m_.facts.ops[w->index];
            if (f.kind == Kind::barrier_wait) { // it is what waits: it issues then
                w->ready = group.phase_at;
                w->why = Stall::barrier;
                continue;
            }
            w->after = group.phase_at;
            w->after_why = Stall::barrier;
            prepare(*w);
        }
    released.push_back(&group);
}

u64 Core::end_of(const TimedWave &w, u64 now) const {
    u64 at = now + 1;
    for (const InFlight &f : w.flights)
        at = std::max(at, f.last());
    return at;
}

void Core::flush(TimedWave &w) {
    settle(w);
    for (const IssueEvent &e : w.events)
        m_.watcher->issued(e);
    w.events.clear();
}

std::string_view name(Stall s) {
    constexpr std::string_view names[] = {"none",        "start",       "fetch",     "branch",
                                          "nop",         "delay",       "valu",      "valu_queue",
                                          "valu_busy",   "scalar",      "wait_load", "wait_store",
                                          "wait_lds",    "wait_scalar", "barrier",   "counter",
                                          "memory_busy", "lds_busy",    "port"};
    static_assert(std::size(names) == static_cast<size_t>(Stall::count));
    return names[static_cast<size_t>(s)];
}

} // namespace nw::sim::timing
