// SPDX-License-Identifier: MIT
#include "bench/stats.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace nw::bench {

namespace {

Busy busy_of(const nlohmann::json &stats) {
    if (!stats.contains("busy"))
        return {};
    const auto cycles = [&](const char *unit) { return stats["busy"].at(unit).get<f64>(); };
    const f64 all = stats.at("cycles").get<f64>() * stats.at("simds").get<f64>();
    return {cycles("wmma") / all, cycles("lds") / (all / 2), cycles("trans") / all,
            stats["busy"].at("lds_conflicts").get<u64>(), cycles("valu") + cycles("wmma")};
}

Moved moved_of(const nlohmann::json &stats) {
    if (!stats.contains("dram_read"))
        return {};
    return {stats.at("dram_read").get<u64>(),
            stats.at("dram_write").get<u64>(),
            stats.at("l2_hit_rate").get<f64>(),
            stats.at("mall_hit_rate").get<f64>(),
            stats.at("bytes").at("global_load").get<u64>(),
            stats.at("bytes").at("global_store").get<u64>()};
}

} // namespace

u64 Instructions::of(std::string_view instruction_class) const {
    const auto at = std::ranges::find(instruction_classes, instruction_class);
    if (at == instruction_classes.end())
        throw std::logic_error(fmt::format("'{}' is no instruction class", instruction_class));
    return count[static_cast<u64>(at - instruction_classes.begin())];
}

u64 Instructions::total() const { return std::accumulate(count.begin(), count.end(), u64{0}); }

std::optional<LaunchStats> LaunchCounts::next_launch(std::string_view kernel) {
    const std::vector<std::string> lines = device_.take_stats();
    if (lines.empty())
        return std::nullopt;
    if (lines.size() > 1)
        throw std::logic_error(
            fmt::format("{}: {} dispatches where one was made", kernel, lines.size()));
    LaunchStats out;
    try {
        const nlohmann::json stats = nlohmann::json::parse(lines[0]);
        if (stats.at("kernel").get<std::string>() != kernel)
            throw std::logic_error(fmt::format("counts of {}, not of {}",
                                               stats.at("kernel").get<std::string>(), kernel));
        for (u64 i = 0; i < out.insts.count.size(); ++i)
            out.insts.count[i] =
                stats.at("insts").at(std::string(instruction_classes[i])).get<u64>();
        out.busy = busy_of(stats);
        out.moved = moved_of(stats);
        out.part = stats.value("part", "");
        out.time = drawn_time(lines);
    } catch (const nlohmann::json::exception &e) {
        throw std::logic_error(fmt::format("statistics '{}': {}", lines[0], e.what()));
    }
    return out;
}

std::optional<Instructions> LaunchCounts::next(std::string_view kernel) {
    const std::optional<LaunchStats> launch = next_launch(kernel);
    return launch ? std::optional(launch->insts) : std::nullopt;
}

} // namespace nw::bench
