// SPDX-License-Identifier: MIT
#include "sim/timing/sampling/steady.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

namespace nw::sim::timing {

namespace {

constexpr u32 fewest_iterations = 32; // of a loop that is worth it
constexpr u32 window_iterations = 4;  // of each wave
constexpr size_t fewest_windows = 3;  // to measure a rate
constexpr f64 steady_error = 0.003;   // of the rate: it is constant
constexpr u64 most_outside = 200;     // one in so many waves may be outside the loop
constexpr f64 first_skip = 128;       // iterations; doubles while the rate stays the same
constexpr f64 most_dram = 0.25;  // of DRAM's sustained bandwidth; above it skipping changes queues
constexpr u32 turns_watched = 8; // iterations of all waves: skipping ends where DRAM has more to do
constexpr f64 fewest_skipped = 8; // rounded to whole iterations for each workgroup
constexpr f64 deviations = 2;     // that the stated error covers
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

f64 mean(std::span<const Steady::Window> windows) {
    u64 iterations = 0, cycles = 0;
    for (const Steady::Window &w : windows)
        iterations += w.iterations, cycles += w.cycles;
    return static_cast<f64>(iterations) / static_cast<f64>(cycles);
}

// Relative standard error of the mean, from batches of `batch` windows.
f64 error(std::span<const Steady::Window> windows, size_t batch) {
    const f64 all = mean(windows);
    const size_t n = windows.size() / batch;
    f64 squares = 0;
    for (size_t b = 0; b < n; ++b) {
        const f64 off = mean(windows.subspan(b * batch, batch)) / all - 1;
        squares += off * off;
    }
    return std::sqrt(squares / static_cast<f64>(n - 1) / static_cast<f64>(n));
}

} // namespace

Steady::Steady(const Machine &m, const WaveTrace *first) : m_(m), most_(first_skip) {
    if (first)
        header_ = header_of(*first);
    if (header_ == ~0u)
        return;
    next_memory_.resize(m.facts.payloads.size() + 1);
    u32 next = static_cast<u32>(m.facts.payloads.size());
    for (u32 n = next + 1; n-- > 0;) {
        if (n < m.facts.payloads.size() && m.facts.payloads[n] != Payload::none)
            next = n;
        next_memory_[n] = next;
    }
}

void Steady::started(TimedWave &w) {
    if (header_ == ~0u)
        return;
    w.loop.left = w.reader.count(header_);
    w.loop.started = skipped_cycles();
    w.loop.slot = waves_.size();
    waves_.push_back(&w);
    ++outside_;
    restart();
}

void Steady::ended(const TimedWave &w) {
    if (header_ == ~0u)
        return;
    waves_[w.loop.slot] = waves_.back();
    waves_[w.loop.slot]->loop.slot = w.loop.slot;
    waves_.pop_back();
    outside_ -= !w.loop.inside;
    pending_ -= w.loop.skip;
    restart();
}

void Steady::restart() {
    ++epoch_;
    windows_.clear();
    begin_ = never;
    iterations_ = counted_ = 0;
}

void Steady::passed(TimedWave &w, u64 now) {
    LoopPosition &l = w.loop;
    if (l.skip) {
        w.reader = l.target;
        l.skip = false;
        if (--pending_ == 0)
            restart();
    }
    l.run = w.reader.run();
    --l.left;
    if (const bool inside = l.left != 0; inside != l.inside) {
        l.inside = inside;
        inside ? --outside_ : ++outside_;
        restart();
    }
    if (pending_ || outside_ * most_outside > waves_.size())
        return;
    if (begin_ == never) {
        begin_ = measured_from_ = now;
        dram_before_ = dram_bytes();
        return;
    }
    l.counted = l.epoch == epoch_ ? l.counted + 1 : 1;
    l.epoch = epoch_;
    ++counted_;
    if (++iterations_ >= window_iterations * waves_.size() && now > begin_)
        close_window(now);
}

void Steady::close_window(u64 now) {
    windows_.push_back({iterations_, now - begin_});
    begin_ = now;
    iterations_ = 0;
    if (windows_.size() < fewest_windows)
        return;
    const Rate r = rate();
    if (r.error > steady_error || dram_share(now) > most_dram)
        return;
    const f64 change = std::abs(last_rate_ / r.mean - 1);
    most_ = change < 2 * steady_error ? 2 * most_ : first_skip;
    last_rate_ = r.mean;
    skip(r, std::min(skippable(r), most_ * static_cast<f64>(waves_.size()) / r.mean));
}

u64 Steady::dram_bytes() const {
    return m_.memory.counts().dram_read + m_.memory.counts().dram_write;
}

// Share of DRAM's sustained bandwidth since the measurement began.
f64 Steady::dram_share(u64 now) const {
    return dram_share_of(dram_bytes() - dram_before_, static_cast<f64>(now - measured_from_));
}

f64 Steady::dram_share_of(u64 bytes, f64 cycles) const {
    const f64 us = cycles / m_.part.shader_mhz;
    return static_cast<f64>(bytes) / us / 1000 / (m_.part.dram_gb_per_s * m_.part.dram_efficiency);
}

// Rate of the later half of the windows: the first ones may not be steady. Waves take turns, so a
// long window follows a short one: the error is estimated from pairs if there are enough.
Steady::Rate Steady::rate() const {
    const size_t n = std::max(fewest_windows, windows_.size() / 2);
    const std::span<const Window> last(windows_.data() + windows_.size() - n, n);
    return {mean(last), n < 2 * fewest_windows ? error(last, 1) : error(last, 2)};
}

namespace {

// Iterations of a workgroup's waves: they stay together, as barriers demand.
struct OfGroup {
    f64 counted = 0; // mean
    u32 left = ~0u;  // fewest
};

OfGroup of_group(const TimedGroup &group, u32 epoch) {
    OfGroup g;
    for (const TimedWave *w : group.waves) {
        g.left = std::min(g.left, w->loop.inside ? w->loop.left : 0);
        g.counted += w->loop.epoch == epoch ? w->loop.counted : 0;
    }
    g.counted /= static_cast<f64>(group.waves.size());
    return g;
}

} // namespace

// Cycles until the first workgroup is about to leave the loop.
f64 Steady::skippable(const Rate &rate) const {
    f64 cycles = INFINITY;
    for (const TimedWave *w : waves_) {
        if (w != w->group->waves.front())
            continue;
        const OfGroup g = of_group(*w->group, epoch_);
        if (g.counted == 0 || g.left == 0)
            continue;
        if (g.left <= margin)
            return 0;
        cycles = std::min(cycles,
                          (g.left - margin) * static_cast<f64>(counted_) / g.counted / rate.mean);
    }
    return cycles;
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

void Steady::skip(const Rate &rate, f64 cycles) {
    if (cycles * rate.mean < fewest_skipped * static_cast<f64>(waves_.size()))
        return;
    u64 skipped = 0;
    std::vector<std::pair<TimedWave *, u32>> rest; // iterations to skip
    for (TimedWave *front : waves_) {
        if (front != front->group->waves.front())
            continue;
        const OfGroup g = of_group(*front->group, epoch_);
        const auto n = static_cast<u32>(
            std::lround(cycles * rate.mean * g.counted / static_cast<f64>(counted_)));
        if (n == 0 || g.left < n + margin)
            continue;
        for (TimedWave *w : front->group->waves) {
            w->loop.skip = true;
            w->loop.left -= n;
            w->loop.target = w->reader;
            pass_iteration(w->loop.target, [](u32) {}); // it is played
            rest.emplace_back(w, n);
            skipped += n;
        }
    }
    pending_ = rest.size();
    // Around all waves: their accesses stay in order, roughly.
    u64 dram = dram_bytes(), iterations = 0;
    for (u32 turn = 0; !rest.empty(); ++turn) {
        std::erase_if(rest, [&](const auto &one) { return turn == one.second; });
        if (turn % turns_watched == 0 && turn) {
            const f64 cycles = static_cast<f64>(iterations) / rate.mean;
            if (dram_share_of(dram_bytes() - dram, cycles) > most_dram) {
                for (const auto &[w, n] : rest) {
                    w->loop.left += n - turn;
                    skipped -= n - turn;
                }
                break;
            }
            dram = dram_bytes();
            iterations = 0;
        }
        for (const auto &one : rest)
            skip_iteration(*one.first);
        iterations += rest.size();
    }
    const f64 took = static_cast<f64>(skipped) / rate.mean;
    skipped_cycles_ += took;
    squares_ += took * took * rate.error * rate.error;
}

void Steady::skip_iteration(TimedWave &w) {
    TraceReader &reader = w.loop.target;
    const size_t run = reader.run();
    pass_iteration(reader, [&](u32 index) {
        if (m_.facts.payloads[index] == Payload::vector)
            m_.memory.touch(vector_request(w.simd, m_.facts.ops[index], reader.payload()));
    });
    for (size_t n = run; n < reader.run(); ++n) {
        ++skipped_runs_[{reader.run_at(n).first, reader.run_at(n).count}];
        skipped_insts_ += reader.run_at(n).count;
    }
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
    r.insts_skipped = skipped_insts_;
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
    if (r.cycles)
        r.sampling_error = deviations * std::sqrt(squares_) / static_cast<f64>(r.cycles);
}

} // namespace nw::sim::timing
