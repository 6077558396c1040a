// SPDX-License-Identifier: MIT
#include "sim/timing/engine.h"

#include <algorithm>
#include <cstring>
#include <queue>

#include "sim/timing/dispatcher.h"
#include "sim/timing/simd.h"

namespace nw::sim::timing {

namespace {

class Engine {
public:
    Engine(const Machine &m, const Dispatch &d, const Code &code, Script script)
        : m_(m), d_(d), code_(code), script_(script),
          core_(m, code, d.kernel->wave_size / row_lanes),
          dispatcher_(m.part, m.device, *d.kernel, d) {
        outcome_.group_starts.resize(script.groups);
        outcome_.group_ends.resize(script.groups);
        outcome_.resident = dispatcher_.resident();
        core_.result.lines.resize(m.facts.ops.size());
    }

    Outcome run() {
        m_.memory.start_kernel();
        m_.memory.watch(m_.watcher);
        fill(0);
        while (!events_.empty()) {
            const Event e = events_.top();
            events_.pop();
            Simd &simd = core_.simds[e.simd];
            if (simd.event != e.at)
                continue; // it was moved
            now_ = e.at;
            step(simd);
        }
        if (ended_ < script_.groups)
            stuck();
        finish();
        return std::move(outcome_);
    }

private:
    struct Event {
        u64 at;
        u32 simd;
        bool operator<(const Event &o) const {
            return at != o.at ? at > o.at : simd > o.simd; // the queue's top is the earliest
        }
    };

    // ---- workgroups come and go

    void fill(u64 now) {
        while (next_group_ < script_.groups) {
            const auto place = dispatcher_.place();
            if (!place)
                return;
            start(next_group_++, *place, now);
        }
    }

    void start(u64 number, const Placement &place, u64 now) {
        launcher_free_ = std::max(launcher_free_, now) + m_.costs.group_launch;
        auto group = std::make_unique<TimedGroup>();
        group->number = number;
        group->placement = place;
        group->live = dispatcher_.waves();
        if (script_.live) {
            group->workgroup = std::make_unique<Workgroup>(*script_.live, *script_.checks);
            group->workgroup->start(number);
        }
        outcome_.group_starts[number] = launcher_free_;
        for (u32 n = 0; n < dispatcher_.waves(); ++n) {
            auto wave = std::make_unique<TimedWave>();
            wave->group = group.get();
            wave->number = n;
            wave->simd = place.simds[n];
            wave->age = age_++;
            WaveTrace &trace = script_.recorder->trace(number, n);
            wave->reader = TraceReader(trace);
            if (group->workgroup) {
                wave->live = &group->workgroup->group().waves[n];
                wave->record = &trace;
            }
            const u64 at = launcher_free_ + u64{n} * m_.costs.wave_launch;
            core_.begin(*wave, at);
            if (m_.watcher)
                m_.watcher->wave_started(number, n, wave->simd, at);
            group->waves.push_back(wave.get());
            Simd &simd = core_.simds[wave->simd];
            simd.waves.push_back(std::move(wave));
            reschedule(simd);
        }
        groups_.push_back(std::move(group));
    }

    void end(TimedWave &wave) {
        TimedGroup &group = *wave.group;
        const u64 at = core_.end_of(wave, now_);
        if (m_.watcher) {
            core_.flush(wave);
            m_.watcher->wave_ended(group.number, wave.number, wave.simd, at);
        }
        last_end_ = std::max(last_end_, at);
        core_.result.occupancy += static_cast<f64>(at - wave.started);
        ++core_.result.waves;
        group.end = std::max(group.end, at);
        --group.live;
        core_.arrive_if_complete(group, now_);
        if (group.live)
            return;
        outcome_.group_ends[group.number] = group.end;
        ++ended_;
        if (group.workgroup)
            outcome_.stats += group.workgroup->stats();
        dispatcher_.release(group.placement);
        ending_.push_back(&group);
    }

    // ---- a SIMD's cycle

    void step(Simd &simd) {
        simd.start_cycle(now_);
        // The waves are in the order of their age; priority goes first (s_setprio).
        for (int priority = simd.highest; priority >= 0; --priority)
            for (size_t n = 0; n < simd.waves.size(); ++n) {
                TimedWave &w = *simd.waves[n];
                if (w.priority == priority && w.ready <= now_)
                    core_.try_issue(simd, w, now_);
            }
        retire(simd);
        for (TimedGroup *group : core_.released)
            wake(*group);
        core_.released.clear();
        reschedule(simd);
        if (!ending_.empty()) {
            for (TimedGroup *group : ending_)
                std::erase_if(groups_, [&](const auto &g) { return g.get() == group; });
            ending_.clear();
            fill(now_);
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
            const auto gone = std::move(simd.waves[n]);
            std::erase(gone->group->waves, gone.get());
            simd.waves.erase(simd.waves.begin() + static_cast<long>(n));
        }
    }

    void wake(TimedGroup &group) {
        for (TimedWave *w : group.waves)
            reschedule(core_.simds[w->simd]);
    }

    void reschedule(Simd &simd) {
        u64 at = never;
        for (const auto &w : simd.waves)
            at = std::min(at, w->ready);
        if (at == simd.event)
            return;
        simd.event = at;
        if (at != never)
            events_.push({at, simd.number});
    }

    [[noreturn]] void stuck() {
        for (const auto &group : groups_)
            if (group->workgroup)
                group->workgroup->deadlock();
        throw Error("timing: waves wait for each other in a way that is not modelled: named "
                    "barriers");
    }

    void finish() {
        Result &r = core_.result;
        r.cycles = last_end_;
        r.occupancy = last_end_ ? r.occupancy / static_cast<f64>(last_end_) /
                                      static_cast<f64>(core_.simds.size())
                                : 0;
        r.memory = m_.memory.counts();
        r.groups_timed = script_.groups;
        r.simds = static_cast<u32>(core_.simds.size());
        r.part = m_.part.name;
        r.unknown = m_.facts.unknown;
        outcome_.result = std::move(r);
    }

    const Machine &m_;
    const Dispatch &d_;
    const Code &code_;
    Script script_;
    Core core_;
    Dispatcher dispatcher_;
    Outcome outcome_;
    std::priority_queue<Event> events_;
    std::vector<std::unique_ptr<TimedGroup>> groups_;
    std::vector<TimedGroup *> ending_;
    u64 now_ = 0, launcher_free_ = 0, last_end_ = 0, next_group_ = 0, ended_ = 0, age_ = 0;
};

} // namespace

Outcome play(const Machine &machine, const Dispatch &dispatch, const Code &code, Script script) {
    return Engine(machine, dispatch, code, script).run();
}

} // namespace nw::sim::timing
