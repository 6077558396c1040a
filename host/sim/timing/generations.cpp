// SPDX-License-Identifier: MIT
#include "sim/timing/generations.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace nw::sim::timing {

namespace {

// The first generation fills the machine and runs in step; its time says nothing of later ones.
constexpr u64 fewest_ends = 3;
constexpr f64 most_error = 0.005; // of the launch's time: half of what is promised
constexpr size_t fewest_to_judge = 6;
constexpr f64 significant = 2; // standard errors of the slope

f64 mean(std::span<const f64> x) {
    f64 sum = 0;
    for (f64 one : x)
        sum += one;
    return sum / static_cast<f64>(x.size());
}

// Growth per generation by least squares, that of noise aside if there are enough to tell.
f64 trend(std::span<const f64> x) {
    const auto n = static_cast<f64>(x.size());
    const f64 middle = (n - 1) / 2, all = mean(x);
    f64 products = 0, squares = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const f64 at = static_cast<f64>(i) - middle;
        products += at * x[i];
        squares += at * at;
    }
    const f64 slope = products / squares;
    if (x.size() < fewest_to_judge)
        return slope;
    f64 rest = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const f64 off = x[i] - all - slope * (static_cast<f64>(i) - middle);
        rest += off * off;
    }
    return std::abs(slope) < significant * std::sqrt(rest / (n - 2) / squares) ? 0 : slope;
}

f64 standard_error(std::span<const f64> x) {
    const f64 all = mean(x);
    f64 squares = 0;
    for (f64 one : x)
        squares += (one - all) * (one - all);
    const auto n = static_cast<f64>(x.size());
    return std::sqrt(squares / (n - 1) / n);
}

} // namespace

u64 first_generations(u64 all, u64 resident, u64 most) {
    const u64 generations = all / resident;
    return generations <= most ? all : all - (generations - most + 1) * resident;
}

Generations::Generations(u64 all, u64 resident, u64 timed, bool samples)
    : all_(all), resident_(std::max<u64>(1, resident)), timed_(timed),
      samples_(samples && timed == all) {}

void Generations::ended(u64 at, u64 insts, u64 started, u64 issued) {
    last_ = std::max(last_, at);
    insts_ = insts_ ? insts_ : insts;
    equal_ &= insts == insts_;
    if (++ended_ % resident_)
        return;
    ends_.push_back({last_, issued});
    if (!samples_ || timed_ != all_ || ends_.size() < fewest_ends || started + resident_ > all_)
        return;
    const u64 timed = all_ - (all_ - started) / resident_ * resident_;
    const Estimate e = left_out(timed, ends_.size());
    if (e.error <= most_error * (static_cast<f64>(last_) + e.cycles))
        timed_ = timed;
}

// Workgroups end in bursts: where all have as many instructions, the rate of these tells more of
// the time of a generation.
Generations::Estimate Generations::left_out(u64 timed, size_t ends) const {
    const auto left = static_cast<f64>((all_ - timed) / resident_);
    const auto insts = static_cast<f64>(resident_ * insts_);
    std::vector<f64> took;
    for (size_t n = 1; n < ends; ++n) {
        const auto cycles = static_cast<f64>(ends_[n].at - ends_[n - 1].at),
                   issued = static_cast<f64>(ends_[n].issued - ends_[n - 1].issued);
        took.push_back(equal_ ? cycles * insts / issued : cycles);
    }
    if (took.size() < 2) { // too few to tell
        const f64 all = left * (took.empty() ? static_cast<f64>(last_) : took[0]);
        return {all, all};
    }
    const size_t later = std::max<size_t>(2, (took.size() + 1) / 2);
    const std::span<const f64> last = std::span(took).last(later);
    const f64 ahead = (left + static_cast<f64>(later)) / 2; // middle of `last` to that of the rest
    // A given number may be too few to tell a trend from noise.
    const f64 more = samples_ || took.size() >= fewest_to_judge ? trend(took) * ahead : 0;
    return {left * mean(last), left * std::hypot(standard_error(last), more)};
}

void Generations::add_left_out(Result &r) const {
    if (timed_ == all_)
        return;
    // Those after which new workgroups started.
    const u64 ends =
        std::min<u64>(ends_.size(), std::max(resident_, timed_ - resident_) / resident_);
    const Estimate e = left_out(timed_, ends);
    const f64 cycles = static_cast<f64>(r.cycles) + e.cycles;
    r.sampling_error =
        std::hypot(e.error / cycles, r.sampling_error * static_cast<f64>(r.cycles) / cycles);
    r.cycles = static_cast<u64>(cycles);
}

} // namespace nw::sim::timing
