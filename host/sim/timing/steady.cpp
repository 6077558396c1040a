// SPDX-License-Identifier: MIT
#include "sim/timing/steady.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace nw::sim::timing {

namespace {

constexpr u32 fewest_iterations = 32; // of a loop that is worth it
constexpr u32 settle_passes = 6;      // after a wave came or left: the pattern may be a new one
constexpr u32 window_passes = 3;      // iterations of the oldest wave
constexpr u32 fewest_windows = 8;     // to know rates
constexpr u32 most_windows = 16;      // of each WGP: then all count half, as rates may drift
// Of the rates: they are constant. Waves compete in no fixed order, so that windows differ by 5 %.
constexpr f64 steady_error = 0.004;
// Workgroups in a WGP. With three or more each keeps a place in a pattern that a sleep disturbs:
// the time of an f32 GEMM of 2048^3 was 2.5 % off.
constexpr size_t most_groups = 2;
constexpr f64 most_skipped = 2;   // for each iteration that was measured since waves came or left
constexpr f64 fewest_skipped = 4; // iterations; less is not worth it
constexpr u32 margin = 2;         // iterations that a wave may advance until it skips

// The loop with the most instructions around it of those with enough iterations.
u32 header_of(const WaveTrace &trace) {
    struct Seen {
        u32 times = 0;
        u64 first = 0, last = 0;
    };
    std::map<u32, Seen> seen;
    u64 at = 0;
    u32 end = 0;
    for (const WaveTrace::Run &run : trace.runs) {
        if (run.first < end) { // a backward branch
            Seen &s = seen[run.first];
            if (!s.times++)
                s.first = at;
            s.last = at;
        }
        at += run.count;
        end = run.first + run.count;
    }
    u32 best = ~0u;
    u64 most = 0;
    for (const auto &[first, s] : seen)
        if (s.times >= fewest_iterations && s.last - s.first > most)
            most = s.last - s.first, best = first;
    return best;
}

} // namespace

void Steady::Rates::add(std::span<const u64> insts, u64 cycles) {
    issued.resize(insts.size());
    u64 all = 0;
    for (size_t n = 0; n < insts.size(); ++n) {
        issued[n] += static_cast<f64>(insts[n]);
        all += insts[n];
    }
    time += static_cast<f64>(cycles);
    const f64 rate = static_cast<f64>(all) / static_cast<f64>(cycles);
    windows += 1;
    sum += rate;
    squares += rate * rate;
}

void Steady::Rates::forget_half() {
    for (f64 &n : issued)
        n /= 2;
    windows /= 2, sum /= 2, squares /= 2, time /= 2;
}

f64 Steady::Rates::error() const {
    const f64 mean = sum / windows, variance = std::max(0.0, squares / windows - mean * mean);
    return std::sqrt(variance / (windows - 1)) / mean;
}

Steady::Steady(const Machine &m, const WaveTrace *first) : m_(m) {
    if (first)
        header_ = header_of(*first);
    if (header_ == ~0u)
        return;
    wgps_.resize(m.part.wgps);
    next_memory_.resize(m.facts.payloads.size() + 1);
    u32 next = static_cast<u32>(m.facts.payloads.size());
    for (u32 n = next + 1; n-- > 0;) {
        if (n < m.facts.payloads.size() && m.facts.payloads[n] != Payload::none &&
            m.facts.payloads[n] != Payload::end)
            next = n;
        next_memory_[n] = next;
    }
}

void Steady::started(TimedWave &w) {
    if (header_ == ~0u)
        return;
    Wgp &wgp = wgps_[w.simd / simds_per_wgp];
    w.loop.left = w.reader.count(header_);
    wgp.waves.push_back(&w);
    ++wgp.outside;
    restart(wgp);
}

void Steady::ended(const TimedWave &w) {
    if (header_ == ~0u)
        return;
    Wgp &wgp = wgps_[w.simd / simds_per_wgp];
    std::erase(wgp.waves, &w);
    wgp.outside -= !w.loop.inside;
    restart(wgp);
}

void Steady::restart(Wgp &wgp) { wgp.passes = 0; }

// A measurement begins.
void Steady::mark(Wgp &wgp, u64 now) {
    wgp.begin = now;
    wgp.measured = wgp.skipped = 0;
    for (TimedWave *w : wgp.waves)
        w->loop.at_window = w->issued;
}

void Steady::passed(TimedWave &w, u64 now, u64 slept) {
    LoopPosition &l = w.loop;
    Wgp &wgp = wgps_[w.simd / simds_per_wgp];
    if (l.skip) {
        w.reader = l.target;
        l.skip = false;
    }
    l.run = w.reader.run();
    --l.left;
    if (const bool inside = l.left != 0; inside != l.inside) {
        l.inside = inside;
        inside ? --wgp.outside : ++wgp.outside;
        restart(wgp);
    }
    if (wgp.outside || &w != wgp.waves.front() || wgp.passes++ < settle_passes)
        return;
    const u32 measured = wgp.passes - settle_passes - 1;
    if (measured == 0)
        mark(wgp, now);
    else if (measured % window_passes == 0 && now > wgp.begin)
        close_window(wgp, now, slept);
}

void Steady::close_window(Wgp &wgp, u64 now, u64 slept) {
    std::vector<u64> issued; // by workgroup, oldest first
    for (TimedWave *w : wgp.waves) {
        if (w == w->group->waves.front())
            issued.push_back(0);
        issued.back() += w->issued - w->loop.at_window;
        w->loop.at_window = w->issued;
    }
    Rates &rates = rates_[issued.size()];
    rates.add(issued, now - wgp.begin);
    wgp.begin = now;
    wgp.measured += window_passes;
    if (issued.size() <= most_groups && rates.windows >= fewest_windows &&
        rates.error() <= steady_error)
        sleep(wgp, rates, now + slept);
    if (rates.windows >= most_windows * static_cast<f64>(wgps_.size()))
        rates.forget_half();
}

// Moves to the loop's first instruction; visit(run, index) before the payload of each of them.
template <class Visit> void Steady::pass_iteration(TraceReader &reader, Visit visit) const {
    do {
        const WaveTrace::Run run = reader.rest_of_run();
        for (u32 n = next_memory_[run.first]; n < run.first + run.count; n = next_memory_[n + 1]) {
            visit(n);
            reader.skip_payload(m_.facts.payloads[n] == Payload::vector
                                    ? 1 + std::bit_cast<VectorHeader>(*reader.payload()).runs
                                    : 1);
        }
        reader.next_run();
    } while (reader.more() && reader.index() != header_);
}

u64 Steady::iteration_length(TraceReader reader) const {
    u64 insts = 0;
    do {
        insts += reader.rest_of_run().count;
        reader.next_run();
    } while (reader.more() && reader.index() != header_);
    return insts;
}

// At most until the first workgroup is about to leave the loop.
void Steady::sleep(Wgp &wgp, const Rates &rates, u64 now) {
    wgp.sleepers.clear();
    f64 cycles = INFINITY, oldest = 0;
    size_t rank = 0;
    for (TimedWave *front : wgp.waves) {
        if (front != front->group->waves.front())
            continue;
        const f64 issued = rates.issued[rank++];
        if (issued == 0)
            continue;
        u32 left = ~0u;
        for (const TimedWave *w : front->group->waves)
            left = std::min(left, w->loop.left);
        TraceReader next = front->loop.skip ? front->loop.target : front->reader;
        if (!front->loop.skip)
            pass_iteration(next, [](u32) {});
        const f64 all = static_cast<f64>(iteration_length(next) * front->group->waves.size());
        const f64 period = all * rates.time / issued;
        // In the middle of an iteration: not together with what is played after it wakes up.
        const f64 first = std::max(1.0, period * (0.5 - front->group->slept));
        wgp.sleepers.push_back({front->group, static_cast<f64>(now) + first, period});
        oldest = oldest ? oldest : period;
        cycles = std::min(cycles, period * (static_cast<f64>(left) - margin));
    }
    cycles = std::min(cycles, (most_skipped * wgp.measured - wgp.skipped) * oldest);
    if (wgp.sleepers.empty() || cycles < fewest_skipped * oldest)
        return;
    wgp.skipped += cycles / oldest;
    wgp.asleep = true;
    wgp.since = now;
    wgp.until = now + static_cast<u64>(cycles);
    const f64 error = cycles * rates.error();
    wgp.squares += error * error;
}

u64 Steady::next(u32 wgp) const {
    const auto until = static_cast<f64>(wgps_[wgp].until);
    f64 at = until;
    for (const Sleeper &s : wgps_[wgp].sleepers)
        if (s.next + s.period / 2 < until)
            at = std::min(at, s.next);
    return static_cast<u64>(at);
}

u64 Steady::play(u32 number, u64 now) {
    Wgp &wgp = wgps_[number];
    for (Sleeper &s : wgp.sleepers)
        for (; s.next < static_cast<f64>(now + 1) &&
               s.next + s.period / 2 < static_cast<f64>(wgp.until);
             s.next += s.period)
            for (TimedWave *w : s.group->waves)
                skip_iteration(*w, now);
    if (now < wgp.until)
        return 0;
    for (const Sleeper &s : wgp.sleepers)
        s.group->slept = std::clamp(0.5 - (s.next - static_cast<f64>(now)) / s.period, 0.0, 1.0);
    wgp.asleep = false;
    return now - wgp.since;
}

void Steady::skip_iteration(TimedWave &w, u64 now) {
    TraceReader &reader = w.loop.target;
    if (!w.loop.skip) {
        w.loop.skip = true;
        reader = w.reader;
        pass_iteration(reader, [](u32) {}); // it is played
    }
    const size_t run = reader.run();
    --w.loop.left;
    pass_iteration(reader, [&](u32 index) {
        if (m_.facts.payloads[index] == Payload::vector)
            m_.memory.vector(now, vector_request(w.simd, m_.facts.ops[index], reader.payload()));
    });
    for (size_t n = run; n < reader.run(); ++n)
        ++skipped_runs_[{reader.run_at(n).first, reader.run_at(n).count}];
}

void Steady::add_skipped(Result &r) const {
    std::vector<u64> skipped(r.lines.size());
    for (const auto &[run, times] : skipped_runs_)
        for (u32 n = run.first; n < run.first + run.second; ++n)
            skipped[n] += times;
    const auto factor = [&](auto counts) {
        u64 played = 0, all = 0;
        for (size_t n = 0; n < skipped.size(); ++n)
            if (counts(m_.facts.ops[n]))
                played += r.lines[n].issued, all += r.lines[n].issued + skipped[n];
        return played ? static_cast<f64>(all) / static_cast<f64>(played) : 1;
    };
    const auto of = [](Unit unit) { return [unit](const OpFacts &f) { return f.unit == unit; }; };
    const auto scale = [](u64 &x, f64 by) { x = static_cast<u64>(static_cast<f64>(x) * by + 0.5); };
    scale(r.busy.valu, factor([](const OpFacts &f) { return f.unit == Unit::valu && !f.wmma; }));
    scale(r.busy.wmma, factor([](const OpFacts &f) { return f.wmma; }));
    scale(r.busy.trans, factor([](const OpFacts &f) { return f.trans; }));
    scale(r.busy.salu, factor(of(Unit::salu)));
    scale(r.busy.vmem, factor(of(Unit::vmem)));
    scale(r.busy.lds, factor(of(Unit::lds)));
    scale(r.busy.lds_conflicts, factor(of(Unit::lds)));
    r.stalls = {};
    for (size_t n = 0; n < skipped.size(); ++n) {
        LineCost &line = r.lines[n];
        for (size_t why = 0; why < line.stalls.size(); ++why) {
            if (skipped[n] && line.issued)
                scale(line.stalls[why],
                      1 + static_cast<f64>(skipped[n]) / static_cast<f64>(line.issued));
            r.stalls[why] += line.stalls[why];
        }
        line.issued += skipped[n];
        r.insts += skipped[n];
    }
    f64 squares = 0;
    for (const Wgp &wgp : wgps_)
        squares += wgp.squares;
    if (squares > 0)
        r.sampling_error =
            std::sqrt(squares / static_cast<f64>(wgps_.size())) / static_cast<f64>(r.cycles);
}

} // namespace nw::sim::timing
