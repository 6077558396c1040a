// SPDX-License-Identifier: MIT
#include "sim/timing/constants/generations.h"

#include <algorithm>
#include <cmath>

namespace nw::sim::timing {

namespace {

// The first generation fills the machine and runs in step; its time says nothing of later ones.
constexpr u64 fewest_ends = 3;
constexpr f64 most_error = 0.005; // of the launch's time: half of what is promised

// The sample's second part.
constexpr u64 later_generations = 10; // that are played, or more: this many workgroups
constexpr u64 later_groups = 8192;
constexpr f64 little_traffic = 0.002; // of the launch's time
constexpr f64 nearly_full = 0.9;      // of a cache's lines: sets fill at different times
constexpr f64 lru_turnover = 1.1;     // sizes of a cache that replace what it has
constexpr f64 random_turnover = 3;    // all but exp(-3) of it

// Workgroups do the same work within these.
constexpr f64 alike = 0.05, deviations_alike = 3;
constexpr u64 fewest_jumped = 4; // generations
constexpr u64 warming = 2;       // of these, passed over: L2 has what waves share

} // namespace

Generations::Generations(Grid grid, Plan plan) : grid_(std::move(grid)), plan_(std::move(plan)) {
    grid_.resident = std::max<u64>(1, grid_.resident);
}

u64 Generations::played() const {
    u64 sum = 0;
    for (const Stretch &s : plan_)
        sum += s.is_played() ? s.groups.size() : 0;
    return sum;
}

bool Generations::ended(u64 at, u64 insts) {
    last_ = std::max(last_, at);
    insts_ = insts_ ? insts_ : insts;
    equal_ &= insts == insts_;
    const auto work = static_cast<f64>(insts);
    sum_ += work;
    squares_ += work * work;
    return ++ended_ % grid_.resident == 0;
}

void Generations::seen(Seen s, u64 started) {
    s.at = last_;
    s.insts = sum_;
    std::vector<Seen> &ends = ends_.back();
    ends.push_back(s);
    if (!grid_.samples || ends.size() < fewest_ends + (ends_.size() > 1 ? later_ends_aside : 0) ||
        started + grid_.resident > grid_.all)
        return;
    const Rate r = rate(ends_.size() - 1);
    const u64 left = (grid_.all - started) / grid_.resident;
    const Turnover over = turnover(r, left);
    const f64 most = most_error * (static_cast<f64>(last_) + static_cast<f64>(left) * r.cycles);
    // Only so much of a first part takes the same time.
    const auto alike = static_cast<f64>(over.generations ? std::min(over.generations, left) : left);
    if (r.error_of(alike) <= most ||
        (over.generations && r.generations >= fewest_before && alike * r.pair_error <= most))
        decide(r, started, left, over);
}

void Generations::passed(const MemoryCounts &counts) { passed_.push_back(counts); }

void Generations::decide(const Rate &r, u64 started, u64 left, Turnover turnover) {
    using What = Stretch::What;
    const u64 over = turnover.generations;
    const u64 each = grid_.resident, all = grid_.all, alike = alike_until(r, started);
    if (over == 0 && alike == all) {
        const u64 timed = all - left * each;
        replace_rest(started, {{What::played, {started, timed}}, {What::left_out, {timed, all}}});
        return;
    }
    if (over == 0) { // up to where the work changes
        const u64 jumped = (alike - started) / each;
        if (jumped < fewest_jumped)
            return;
        const u64 to = started + jumped * each, warm = to - warming * each;
        replace_rest(started, {{What::left_out, {started, warm}},
                               {What::passed, {warm, to}},
                               {What::played, {to, all}}});
        return;
    }
    if (alike != all)
        return;
    grid_.samples = false;
    const u64 later = std::max(later_generations, later_groups / each);
    // A sample of a grid that ends soon after its caches are full is one of their filling, too: its
    // mean would be neither time. All of it is played.
    if (left < over + later)
        return;
    fills_last_ = turnover.last;
    const u64 to = started + (left - later) * each, full = started + over * each;
    replace_rest(started, {{What::passed, {started, full}},
                           {What::left_out, {full, to}, true},
                           {What::played, {to, all}}});
}

// The stretch that is being played, which is the last one, ends at `from`.
void Generations::replace_rest(u64 from, const Plan &rest) {
    plan_.back().groups.end = from;
    for (const Stretch &s : rest) {
        if (s.groups.size() == 0)
            continue;
        if (s.what == plan_.back().what)
            plan_.back().groups.end = s.groups.end;
        else
            plan_.push_back(s);
    }
}

// ---- what is known of the rest ----------------------------------------------------------------

// Up to which workgroup the probes from `started` on do what those did that were measured.
u64 Generations::alike_until(const Rate &r, u64 started) const {
    const f64 n = static_cast<f64>(ended_), all = sum_ / n,
              deviation = std::sqrt(std::max(0.0, squares_ / n - all * all));
    const f64 off = std::max(alike, deviations_alike * deviation / all);
    u64 until = started;
    for (const GroupWork &w : grid_.probes) {
        if (w.group < started)
            continue;
        const auto differs = [&](u64 probe, f64 measured, f64 by) {
            return std::abs(static_cast<f64>(probe) - measured) > by * measured;
        };
        if (differs(w.insts, r.insts, off) || differs(w.sectors, r.sectors, 2 * off) ||
            differs(w.written, r.written, 2 * off))
            return until;
        until = w.group;
    }
    return grid_.all;
}

// It changes no time where caches evict as many dirty lines as they get, or memory has time for
// these beside.
Generations::Turnover Generations::turnover(const Rate &r, u64 left) const {
    const std::vector<Seen> &ends = ends_.back();
    const Seen &to = ends.back(), &from = ends[ends.size() - 1 - r.averaged];
    const auto per_generation = [&](u64 before, u64 after) {
        return (static_cast<f64>(after) - static_cast<f64>(before)) / static_cast<f64>(r.averaged);
    };
    const auto others = static_cast<f64>(left);
    const f64 share =
        others / (others + static_cast<f64>(ended_) / static_cast<f64>(grid_.resident));
    // Bytes that are kept back from a memory that moves `moved`.
    const auto matters = [&](f64 kept, f64 moved, f64 bytes) {
        const f64 cycles = bytes * r.cycles;
        return (moved + std::max(0.0, kept)) / cycles > busy_memory &&
               std::abs(kept) / cycles * share > little_traffic;
    };
    const auto fills = [&](const Cache::Contents &c, f64 lines) {
        return static_cast<f64>(c.held) + lines * others > nearly_full * static_cast<f64>(c.lines);
    };
    const LastLevels &a = from.levels, &b = to.levels;
    const f64 of_l2 = per_generation(a.l2.dirty, b.l2.dirty) * sector_bytes,
              of_mall = per_generation(a.mall.dirty, b.mall.dirty) * sector_bytes,
              dram = per_generation(moved_by_dram(from.counts), moved_by_dram(to.counts)),
              mall = per_generation(moved_by_mall(from.counts), moved_by_mall(to.counts)),
              mall_lines = r.mall_lines + std::max(0.0, of_l2) / line_bytes;
    const auto over = [](f64 sizes, const Cache::Contents &c, f64 lines) {
        return static_cast<u64>(std::ceil(sizes * static_cast<f64>(c.lines) / lines));
    };
    u64 most = 0;
    const bool into_mall = b.mall.lines != 0,
               last = into_mall ? fills(b.mall, mall_lines) : fills(b.l2, r.l2_lines);
    if (b.mall.lines && matters(of_l2 + of_mall, dram, grid_.dram_bytes) && last)
        most = over(lru_turnover, b.mall, mall_lines);
    if (most ||
        (matters(of_l2, into_mall ? mall : dram, into_mall ? grid_.mall_bytes : grid_.dram_bytes) &&
         fills(b.l2, r.l2_lines)))
        most = std::max(most, over(random_turnover, b.l2, r.l2_lines));
    return {most, last};
}

} // namespace nw::sim::timing
