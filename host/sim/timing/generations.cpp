// SPDX-License-Identifier: MIT
#include "sim/timing/generations.h"

#include <algorithm>
#include <cmath>

#include "sim/timing/statistics.h"

namespace nw::sim::timing {

using statistics::fewest_to_judge, statistics::mean, statistics::significant,
    statistics::standard_error, statistics::student, statistics::trend;

namespace {

// The first generation fills the machine and runs in step; its time says nothing of later ones.
constexpr u64 fewest_ends = 3;
constexpr f64 most_error = 0.005; // of the launch's time: half of what is promised

// The sample's second part.
constexpr u64 later_ends_aside = 1;   // the machine still has workgroups of before
constexpr u64 later_generations = 10; // that are played, or more: this many workgroups
constexpr u64 later_groups = 8192;
constexpr size_t fewest_before = 12;  // generations of the first part whose noise is that of pairs
constexpr f64 busy_memory = 0.6;      // of its bandwidth: below, evicted lines don't delay others
constexpr f64 little_traffic = 0.002; // of the launch's time
constexpr f64 nearly_full = 0.9;      // of a cache's lines: sets fill at different times
constexpr f64 lru_turnover = 1.1;     // sizes of a cache that replace what it has
constexpr f64 random_turnover = 3;    // all but exp(-3) of it

// Workgroups do the same work within these.
constexpr f64 alike = 0.05, deviations_alike = 3;
constexpr u64 fewest_jumped = 4;    // generations
constexpr u64 warming = 2;          // of these, passed over: L2 has what waves share
constexpr f64 error_between = 0.1;  // of what passed generations take beyond the faster part's
constexpr f64 slow_drift = 0.02;    // of left-out generations' time: too slow for a sample to show
constexpr f64 error_of_work = 0.25; // of the time that another amount of work makes

u64 moved_by_dram(const MemoryCounts &c) { return c.dram_read + c.dram_write; }
u64 moved_by_mall(const MemoryCounts &c) {
    return (c.mall.hits + c.mall.misses) * sector_bytes + c.l2_write;
}

bool is_played(const Stretch &s) { return s.what == Stretch::What::played; }

} // namespace

Generations::Generations(Grid grid, Plan plan) : grid_(std::move(grid)), plan_(std::move(plan)) {
    grid_.resident = std::max<u64>(1, grid_.resident);
}

u64 Generations::played() const {
    u64 sum = 0;
    for (const Stretch &s : plan_)
        sum += is_played(s) ? s.groups.size() : 0;
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
    const u64 left = (grid_.all - started) / grid_.resident, over = turnover(r, left);
    const f64 most = most_error * (static_cast<f64>(last_) + static_cast<f64>(left) * r.cycles);
    // Of a first part that much, and not more, takes as long.
    const auto alike = static_cast<f64>(over ? std::min(over, left) : left);
    if (r.error_of(alike) <= most ||
        (over && r.generations >= fewest_before && alike * r.pair_error <= most))
        decide(r, started, left, over);
}

void Generations::passed(const MemoryCounts &counts) { passed_.push_back(counts); }

void Generations::decide(const Rate &r, u64 started, u64 left, u64 over) {
    using What = Stretch::What;
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
    if (left <= later + 1)
        return;
    const u64 to = started + (left - later) * each,
              full = started + std::min(over, left - later) * each;
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

// Instructions of a workgroup in this range, by those of the measured ones; 1 if not known better.
f64 Generations::work(const Rate &r, GroupRange range) const {
    std::vector<f64> insts;
    for (const GroupWork &w : grid_.probes)
        if (range.holds(w.group))
            insts.push_back(static_cast<f64>(w.insts) / r.insts);
    if (insts.size() < 2)
        return 1;
    const f64 all = mean(insts);
    return std::abs(all - 1) > significant * standard_error(insts) ? all : 1;
}

f64 Generations::traffic(const MemoryCounts &c) const {
    const f64 dram = static_cast<f64>(moved_by_dram(c)) / grid_.dram_bytes;
    return grid_.mall_bytes > 0
               ? std::max(dram, static_cast<f64>(moved_by_mall(c)) / grid_.mall_bytes)
               : dram;
}

// Generations until a stream has replaced what L2 and MALL hold; 0 if that changes no time, as they
// evict as many dirty lines as they get, or memory has time for these beside.
u64 Generations::turnover(const Rate &r, u64 left) const {
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
    if (b.mall.lines && matters(of_l2 + of_mall, dram, grid_.dram_bytes) &&
        fills(b.mall, mall_lines))
        most = over(lru_turnover, b.mall, mall_lines);
    const bool into_mall = b.mall.lines != 0;
    if (most ||
        (matters(of_l2, into_mall ? mall : dram, into_mall ? grid_.mall_bytes : grid_.dram_bytes) &&
         fills(b.l2, r.l2_lines)))
        most = std::max(most, over(random_turnover, b.l2, r.l2_lines));
    return most;
}

// ---- the time of a generation -----------------------------------------------------------------

// Ends of generations after which new workgroups started.
std::span<const Generations::Seen> Generations::measured(size_t stretch) const {
    std::span<const Seen> ends = ends_[stretch];
    if (stretch + 1 == ends_.size()) {
        const u64 all = played(), each = grid_.resident;
        u64 before = 0;
        for (size_t n = 0; n < stretch; ++n)
            before += ends_[n].size();
        const u64 valid = std::max(each, all - each) / each;
        ends = ends.first(std::min<u64>(ends.size(), valid > before ? valid - before : 0));
    }
    return stretch ? ends.subspan(std::min<size_t>(ends.size(), later_ends_aside)) : ends;
}

// Workgroups end in bursts: where all have as many instructions, the rate of these tells more of
// the time of a generation.
Generations::Rate Generations::rate(size_t stretch) const {
    const std::span<const Seen> ends = measured(stretch);
    const auto insts = static_cast<f64>(grid_.resident * insts_);
    std::vector<f64> took;
    for (size_t n = 1; n < ends.size(); ++n) {
        const auto cycles = static_cast<f64>(ends[n].at - ends[n - 1].at),
                   issued = static_cast<f64>(ends[n].issued - ends[n - 1].issued);
        took.push_back(equal_ ? cycles * insts / issued : cycles);
    }
    Rate r;
    r.generations = took.size();
    if (took.size() < 2) { // too few to tell
        r.cycles = r.error = took.empty() ? static_cast<f64>(last_) : took[0];
        return r;
    }
    r.averaged = stretch ? took.size() : std::max<size_t>(2, (took.size() + 1) / 2);
    const std::span<const f64> last = std::span(took).last(r.averaged);
    r.cycles = mean(last);
    r.error = standard_error(last);
    r.pair_error = r.averaged < fewest_before / 2 ? r.error : standard_error(last, 2);
    // A given number may be too few to tell a trend from noise.
    r.trend = grid_.samples || took.size() >= fewest_to_judge ? trend(took) : 0;
    const Seen &to = ends.back(), &from = ends[ends.size() - 1 - r.averaged];
    const auto each = [&](auto what) {
        return (static_cast<f64>(what(to)) - static_cast<f64>(what(from))) /
               static_cast<f64>(r.averaged);
    };
    const auto each_group = [&](auto what) {
        return each(what) / static_cast<f64>(grid_.resident);
    };
    r.traffic = traffic(to.counts.moved_since(from.counts)) / static_cast<f64>(r.averaged);
    r.dram_read = each([](const Seen &s) { return s.counts.dram_read; });
    r.dram_write = each([](const Seen &s) { return s.counts.dram_write; });
    r.lived = each([](const Seen &s) { return s.lived; });
    r.kept =
        each([](const Seen &s) { return s.levels.l2.dirty + s.levels.mall.dirty; }) * sector_bytes;
    r.l2_lines = each([](const Seen &s) { return s.levels.l2.filled; });
    r.mall_lines = each([](const Seen &s) { return s.levels.mall.filled; });
    r.insts = each_group([](const Seen &s) { return s.insts; });
    r.sectors = each_group([](const Seen &s) { return s.counts.sectors; });
    r.written = each_group([](const Seen &s) { return s.counts.written; });
    return r;
}

f64 Generations::Rate::error_of(f64 left) const {
    const f64 ahead = (left + static_cast<f64>(averaged)) / 2; // middle of those to that of `left`
    return left * std::hypot(error, trend * ahead);
}

f64 Generations::Rate::bound_of(f64 left) const {
    const f64 ahead = (left + static_cast<f64>(averaged)) / 2;
    return left * std::hypot(averaged < fewest_before / 2 ? student(averaged) * error
                                                          : student(averaged / 2) * pair_error,
                             trend * ahead);
}

// ---- what was not played ----------------------------------------------------------------------

struct Generations::Gap {
    f64 cycles = 0, bound = 0, dram_read = 0, dram_write = 0, lived = 0;
};

// In the long run what becomes dirty is written back: as much of it more or less as the caches'
// share of dirty lines still changed.
Generations::Rate Generations::settled(Rate r) const {
    if (r.traffic > busy_memory * r.cycles) {
        r.cycles += r.kept / grid_.dram_bytes;
        r.dram_write += r.kept;
    }
    return r;
}

// Stretch `at` of the plan, between two that were played. A generation that was passed over takes
// what its traffic does at the later one's rate, but neither less nor more than both.
Generations::Gap Generations::gap(size_t at, const Rate &before, const Rate &after,
                                  size_t passed) const {
    const Stretch &s = plan_[at];
    const auto generations = static_cast<f64>(s.groups.size() / grid_.resident);
    Gap g;
    if (s.what == Stretch::What::left_out) {
        const Rate r = s.as_later ? settled(after) : before;
        const f64 more = work(r, s.groups);
        g.cycles = generations * r.cycles * more;
        g.bound = std::hypot(
            std::hypot(r.bound_of(generations), slow_drift * generations * r.cycles) * more,
            error_of_work * (more - 1) * generations * r.cycles);
        g.dram_read = generations * r.dram_read * more;
        g.dram_write = generations * r.dram_write * more;
        g.lived = generations * r.lived * more;
        return g;
    }
    const auto [low, high] = std::minmax(before.cycles, after.cycles);
    f64 between = 0;
    for (size_t n = passed; n < passed + s.groups.size() / grid_.resident; ++n) {
        const MemoryCounts &c = passed_[n];
        const f64 cycles = after.traffic > 0 ? after.cycles * traffic(c) / after.traffic : high;
        const f64 took = std::clamp(cycles, low, high);
        const f64 later = high > low ? std::abs(took - before.cycles) / (high - low) : 1;
        g.cycles += took;
        g.lived += before.lived + later * (after.lived - before.lived);
        between += took - low;
        g.dram_read += static_cast<f64>(c.dram_read);
        g.dram_write += static_cast<f64>(c.dram_write);
    }
    g.bound = std::hypot(before.bound_of(1), high - low, error_between * between) +
              generations * after.pair_error * student(after.averaged / 2);
    return g;
}

Generations::Lines Generations::lines_of(const Stretch &s) const {
    const Rate r = rate(ends_.size() - 1);
    const auto generations = static_cast<f64>(s.groups.size() / grid_.resident);
    return {static_cast<u64>(generations * r.l2_lines),
            static_cast<u64>(generations * r.mall_lines)};
}

void Generations::add_left_out(Result &r) const {
    if (plan_.size() < 2)
        return;
    Gap all{.lived = r.occupancy * static_cast<f64>(r.cycles) * r.simds};
    f64 squares = 0;
    size_t stretch = 0, passed = 0;
    Rate before, after;
    for (size_t n = 0; n < plan_.size(); ++n) {
        if (is_played(plan_[n])) {
            before = n ? after : rate(0);
            continue;
        }
        if (is_played(plan_[n - 1]))
            after = stretch + 1 < ends_.size() ? rate(++stretch) : before;
        const Gap one = gap(n, before, after, passed);
        all.cycles += one.cycles;
        all.lived += one.lived;
        all.dram_read += one.dram_read;
        all.dram_write += one.dram_write;
        squares += one.bound * one.bound;
        if (plan_[n].what == Stretch::What::passed)
            passed += plan_[n].groups.size() / grid_.resident;
    }
    const f64 cycles = static_cast<f64>(r.cycles) + all.cycles;
    r.sampling_error = std::hypot(std::sqrt(squares) / cycles,
                                  r.sampling_error * static_cast<f64>(r.cycles) / cycles);
    r.occupancy = all.lived / cycles / r.simds;
    r.cycles = static_cast<u64>(cycles);
    r.dram_read = passed ? r.dram_read + all.dram_read : r.dram_read * r.scale;
    r.dram_write = passed ? r.dram_write + all.dram_write : r.dram_write * r.scale;
}

} // namespace nw::sim::timing
