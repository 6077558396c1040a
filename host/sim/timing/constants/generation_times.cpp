// SPDX-License-Identifier: MIT
// The time of a generation, by those that were played, and of the ones that were not.
#include "sim/timing/constants/generations.h"

#include <algorithm>
#include <cmath>

#include "sim/timing/sampling/statistics.h"

namespace nw::sim::timing {

using statistics::fewest_to_judge, statistics::mean, statistics::significant,
    statistics::standard_error, statistics::student, statistics::trend;

namespace {

constexpr f64 error_between = 0.1;  // of what passed generations take beyond the faster part's
constexpr f64 slow_drift = 0.02;    // of left-out generations' time: too slow for a sample to show
constexpr f64 error_of_work = 0.25; // of the time that another amount of work makes

} // namespace

u64 Generations::moved_by_dram(const MemoryCounts &c) { return c.dram_read + c.dram_write; }
u64 Generations::moved_by_mall(const MemoryCounts &c) {
    return (c.mall.hits + c.mall.misses) * sector_bytes + c.l2_write;
}

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

f64 Generations::traffic(const MemoryCounts &c) const {
    const f64 dram = static_cast<f64>(moved_by_dram(c)) / grid_.dram_bytes;
    return grid_.mall_bytes > 0
               ? std::max(dram, static_cast<f64>(moved_by_mall(c)) / grid_.mall_bytes)
               : dram;
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

// In the long run what becomes dirty is written back: as much of it more or less as the caches'
// share of dirty lines still changed. Not if the last cache has room for all of it.
Generations::Rate Generations::settled(Rate r) const {
    if (fills_last_ && r.traffic > busy_memory * r.cycles) {
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
        if (plan_[n].is_played()) {
            before = n ? after : rate(0);
            continue;
        }
        if (plan_[n - 1].is_played())
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
