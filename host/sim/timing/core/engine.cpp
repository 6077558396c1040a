// SPDX-License-Identifier: MIT
#include "sim/timing/core/engine.h"

#include <algorithm>

#include "sim/timing/core/dispatcher.h"
#include "sim/timing/core/event_wheel.h"
#include "sim/timing/core/pass.h"
#include "sim/timing/core/simd.h"
#include "sim/timing/sampling/steady.h"

namespace nw::sim::timing {

namespace {

class Engine {
public:
    Engine(const Machine &m, const Dispatch &d, const Code &code, Script script)
        : m_(m), script_(script), core_(m, code, d.kernel->wave_size / row_lanes),
          dispatcher_(m.part, m.device, *d.kernel, d, m.changes),
          steady_(m, script.skips ? &script.recorder->trace(0, 0) : nullptr) {
        outcome_.resident = dispatcher_.resident();
        const f64 cycles = 1000.0 / m.part.shader_mhz; // bytes in a cycle of 1 GB/s
        outcome_.generations = {
            {.all = u64{d.grid.x} * d.grid.y * d.grid.z,
             .resident = outcome_.resident,
             .samples = script.samples,
             .probes = script.probes,
             .dram_bytes = m.part.dram_gb_per_s * m.part.dram_efficiency * cycles,
             .mall_bytes = m.part.mall_size ? m.part.mall_gb_per_s * cycles : 0},
            script.plan};
        launcher_free_.resize(dispatcher_.engines());
        cu_free_.resize(m.part.cus());
        core_.result.lines.resize(m.facts.ops.size());
    }

    Outcome run() {
        m_.memory.start_kernel();
        m_.memory.watch(m_.watcher ? &core_.last_answer : nullptr);
        fill(0);
        for (u32 number = 0; events_.next(now_, number);)
            if (Simd &simd = core_.simds[number]; simd.event == now_) // else it was rescheduled
                step(simd);
        if (ended_ < outcome_.generations.played())
            stuck();
        finish();
        return std::move(outcome_);
    }

private:
    // ---- workgroups start and end

    void fill(u64 now) {
        while (more()) {
            const auto place = dispatcher_.place();
            if (!place)
                return;
            start(next_group_++, *place, now);
        }
    }

    // True if next_group_ is to be started: what precedes it and is not played is done.
    bool more() {
        const Plan &plan = outcome_.generations.plan();
        while (next_group_ == plan[stretch_].groups.end) {
            if (stretch_ + 1 == plan.size())
                return false;
            const Stretch &next = plan[++stretch_];
            if (next.what == Stretch::What::passed)
                pass(next.groups);
            if (next.what == Stretch::What::left_out && stretch_ + 1 < plan.size())
                displace(next);
            if (next.what == Stretch::What::played)
                outcome_.generations.resumed();
            else
                next_group_ = next.groups.end;
        }
        return true;
    }

    // The lines of workgroups that a stretch omits replace those in the caches.
    void displace(const Stretch &left_out) {
        if (left_out.as_later) // which are full of what the grid writes
            return m_.memory.rename_lines();
        const Generations::Lines lines = outcome_.generations.lines_of(left_out);
        m_.memory.displace(lines.l2, lines.mall);
    }

    void pass(GroupRange groups) {
        MemoryCounts before = m_.memory.counts();
        for (u64 group = groups.begin, n = 1; group < groups.end; ++group, ++n) {
            if (script_.beside)
                script_.recorder->await(group);
            pass_over(m_, *script_.recorder, group, dispatcher_.waves());
            if (script_.beside && !script_.keeps)
                script_.recorder->forget(group);
            if (n % outcome_.resident == 0) {
                const MemoryCounts now = m_.memory.counts(), moved = now.moved_since(before);
                outcome_.generations.passed(moved);
                passed_read_ += moved.dram_read;
                passed_write_ += moved.dram_write;
                before = now;
            }
        }
    }

    void start(u64 number, const Placement &place, u64 now) {
        if (script_.beside)
            script_.recorder->await(number);
        // A shader engine starts one wave at a time.
        u64 &free = launcher_free_[place.engine];
        u64 &cu_free = cu_free_[place.simds.front() / simds_per_cu];
        const u64 first = std::max({free, cu_free, now});
        cu_free = first + m_.costs.cu_group_launch;
        free = first + std::max<u64>(m_.costs.group_launch,
                                     dispatcher_.waves() * u64{m_.costs.wave_launch});
        auto group = std::make_unique<TimedGroup>();
        group->number = number;
        group->placement = place;
        group->live = dispatcher_.waves();
        if (script_.live) {
            group->workgroup = std::make_unique<Workgroup>(*script_.live, script_.checks);
            group->workgroup->start(number);
        }
        for (u32 n = 0; n < dispatcher_.waves(); ++n) {
            auto wave = std::make_unique<TimedWave>();
            wave->group = group.get();
            wave->number = n;
            wave->simd = place.simds[n];
            WaveTrace &trace = script_.recorder->trace(number, n);
            wave->reader = TraceReader(trace);
            if (group->workgroup) {
                wave->live = &group->workgroup->group().waves[n];
                wave->record = &trace;
            }
            const u64 at = first + u64{n} * m_.costs.wave_launch;
            core_.begin(*wave, at);
            steady_.started(*wave);
            if (m_.watcher)
                m_.watcher->wave_started(number, n, wave->simd, at);
            group->waves.push_back(wave.get());
            Simd &simd = core_.simds[wave->simd];
            simd.add(std::move(wave));
            reschedule(simd);
        }
        groups_.push_back(std::move(group));
    }

    void end(TimedWave &wave) {
        TimedGroup &group = *wave.group;
        // s_endpgm frees the slot; stores may still be outstanding.
        const u64 at = core_.end_of(wave, now_) + steady_.skipped_cycles(),
                  left = now_ + 1 + steady_.skipped_cycles();
        if (m_.watcher) {
            core_.flush(wave);
            m_.watcher->wave_ended(group.number, wave.number, wave.simd, left);
        }
        last_end_ = std::max(last_end_, at);
        core_.result.occupancy += static_cast<f64>(left - wave.started - wave.loop.started);
        steady_.ended(wave);
        ++core_.result.waves;
        group.end = std::max(group.end, at);
        --group.live;
        core_.arrive_if_complete(group, now_);
        if (group.live)
            return;
        ++ended_;
        count_generation(group);
        if (group.workgroup)
            outcome_.stats += group.workgroup->stats();
        if (script_.beside && !script_.keeps)
            script_.recorder->forget(group.number);
        dispatcher_.release(group.placement);
        ending_.push_back(&group);
    }

    void count_generation(const TimedGroup &group) {
        if (script_.live)
            return;
        Generations &generations = outcome_.generations;
        if (!generations.ended(group.end, script_.recorder->instructions(group.number)))
            return;
        const size_t before = generations.plan().size();
        generations.seen({.issued = core_.result.insts + steady_.skipped_insts(),
                          .lived = core_.result.occupancy,
                          .counts = m_.memory.counts(),
                          .levels = m_.memory.last_levels()},
                         next_group_);
        const Plan &plan = generations.plan();
        for (size_t n = before; n < plan.size(); ++n)
            if (plan[n].what == Stretch::What::left_out)
                script_.recorder->leave_out(plan[n].groups);
    }

    // ---- a SIMD's cycle

    void step(Simd &simd) {
        // Oldest wave first, after priority (s_setprio).
        bool ended = false;
        for (int priority = simd.highest; priority >= 0; --priority)
            for (size_t n = 0; n < simd.waves.size(); ++n) {
                if (simd.ready[n] > now_)
                    continue;
                TimedWave &w = *simd.waves[n];
                if (priority && w.priority < priority)
                    continue;
                core_.try_issue(simd, w, now_);
                steady_.issued(w, now_);
                simd.ready[n] = w.ready;
                ended |= w.ended;
            }
        if (ended)
            retire(simd);
        for (TimedGroup *group : core_.released)
            for (TimedWave *w : group->waves)
                wake(*w);
        core_.released.clear();
        reschedule(simd);
        if (!ending_.empty()) {
            for (TimedGroup *group : ending_)
                std::erase_if(groups_, [&](const auto &g) { return g.get() == group; });
            ending_.clear();
            fill(now_ + m_.costs.place_refill);
        }
    }

    void retire(Simd &simd) {
        for (size_t n = 0; n < simd.waves.size();) {
            TimedWave &w = *simd.waves[n];
            if (!w.ended) {
                ++n;
                continue;
            }
            end(w);
            std::erase(w.group->waves, &w);
            simd.remove(n);
        }
    }

    void wake(const TimedWave &w) {
        Simd &simd = core_.simds[w.simd];
        for (size_t n = 0; n < simd.waves.size(); ++n)
            if (simd.waves[n].get() == &w)
                simd.ready[n] = w.ready;
        reschedule(simd);
    }

    void reschedule(Simd &simd) {
        const u64 at = simd.earliest();
        if (at == simd.event)
            return;
        simd.event = at;
        if (at != never)
            events_.plan(at, simd.number);
    }

    [[noreturn]] void stuck() {
        for (const auto &group : groups_)
            if (group->workgroup)
                group->workgroup->deadlock();
        throw Error("timing: named barriers are not modelled");
    }

    void finish() {
        Result &r = core_.result;
        r.cycles = last_end_;
        r.occupancy = last_end_ ? r.occupancy / static_cast<f64>(last_end_) /
                                      static_cast<f64>(core_.simds.size())
                                : 0;
        r.memory = m_.memory.counts();
        r.memory.dram_read -= passed_read_;
        r.memory.dram_write -= passed_write_;
        r.groups_timed = outcome_.generations.played();
        steady_.add_skipped(r);
        if (const Stretch &last = outcome_.generations.plan().back();
            last.what == Stretch::What::left_out)
            displace(last); // for the next launch
        r.simds = static_cast<u32>(core_.simds.size());
        r.part = m_.part.name;
        r.unknown = m_.facts.unknown;
        outcome_.result = std::move(r);
    }

    const Machine &m_;
    Script script_;
    Core core_;
    Dispatcher dispatcher_;
    Steady steady_;
    Outcome outcome_;
    EventWheel events_;
    std::vector<std::unique_ptr<TimedGroup>> groups_;
    std::vector<TimedGroup *> ending_;
    std::vector<u64> launcher_free_, cu_free_; // by shader engine, by CU
    u64 now_ = 0, last_end_ = 0, next_group_ = 0, ended_ = 0;
    size_t stretch_ = 0;                     // of the plan, that next_group_ belongs to
    u64 passed_read_ = 0, passed_write_ = 0; // bytes of DRAM, by workgroups that were passed over
};

} // namespace

Outcome play(const Machine &machine, const Dispatch &dispatch, const Code &code, Script script) {
    return Engine(machine, dispatch, code, script).run();
}

} // namespace nw::sim::timing
