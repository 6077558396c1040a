// SPDX-License-Identifier: MIT
#include "measure/micro/derive.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"

namespace nw::micro {

namespace {

std::vector<f64> settled(const std::vector<u32> &passes) {
    const u32 skip = passes.size() > 2 * warm_passes ? warm_passes : 0;
    return {passes.begin() + skip, passes.end()};
}

} // namespace

f64 median(std::span<const f64> values) {
    if (values.empty())
        throw Error("a median of no values: at least one pass is needed");
    std::vector<f64> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    const u64 half = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

Row derive(std::string name, const std::map<u32, std::vector<u32>> &clocks) {
    if (clocks.size() < 2 || clocks.begin()->first != 0)
        throw Error(fmt::format("{}: {} records of clocks; one of no steps and one or two of some "
                                "are needed",
                                name, clocks.size()));
    const auto few = std::next(clocks.begin()), many = std::prev(clocks.end());
    const bool slope = few != many;
    const f64 none = median(settled(clocks.begin()->second)), at_few = median(settled(few->second));
    const f64 below = slope ? at_few : none;
    const f64 steps = slope ? many->first - few->first : few->first;
    const std::vector<f64> passes = settled(many->second);
    const auto [low, high] = std::minmax_element(passes.begin(), passes.end());
    Row row;
    row.name = std::move(name);
    row.unit = "cycles";
    row.value = (median(passes) - below) / steps;
    row.low = (*low - below) / steps;
    row.high = (*high - below) / steps;
    row.offset = slope ? at_few - none - few->first * row.value : 0;
    row.from = slope
                   ? fmt::format("({} in a row - {}) / {}", many->first, few->first, steps)
                   : fmt::format("{} - none", few->first == 1 ? "one" : std::to_string(few->first));
    row.clocks = clocks;
    return row;
}

} // namespace nw::micro
