// SPDX-License-Identifier: MIT
#include "bench/stats.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>
#include <vector>

#include "base/error.h"

namespace nw::bench {

namespace fs = std::filesystem;

namespace {

Busy busy_of(const nlohmann::json &stats) {
    if (!stats.contains("busy"))
        return {};
    const auto cycles = [&](const char *unit) { return stats["busy"].at(unit).get<f64>(); };
    const f64 all = stats.at("cycles").get<f64>() * stats.at("simds").get<f64>();
    return {cycles("wmma") / all, cycles("lds") / (all / 2),
            stats["busy"].at("lds_conflicts").get<u64>(), cycles("valu") + cycles("wmma")};
}

} // namespace

u64 Instructions::of(std::string_view instruction_class) const {
    const auto at = std::ranges::find(instruction_classes, instruction_class);
    if (at == instruction_classes.end())
        throw Error(fmt::format("'{}' is no instruction class", instruction_class));
    return count[static_cast<u64>(at - instruction_classes.begin())];
}

u64 Instructions::total() const {
    u64 sum = 0;
    for (u64 n : count)
        sum += n;
    return sum;
}

StatsFile::StatsFile() {
    if (const char *named = std::getenv("HIPSIM_STATS"); named && *named) {
        path_ = named;
        skip();
        return;
    }
    std::string name = (fs::temp_directory_path() / "nw_bench_stats_XXXXXX").string();
    const int file = mkstemp(name.data());
    if (file < 0)
        throw Error(fmt::format("{}: can't be created", name));
    close(file);
    path_ = name;
    ours_ = true;
    setenv("HIPSIM_STATS", path_.c_str(), 1);
}

StatsFile::~StatsFile() {
    std::error_code ignored;
    if (ours_)
        fs::remove(path_, ignored);
}

void StatsFile::skip() {
    std::error_code missing;
    const u64 size = fs::file_size(path_, missing);
    read_ = missing ? 0 : size;
}

std::optional<LaunchStats> StatsFile::next_launch(std::string_view kernel) {
    std::ifstream in(path_);
    in.seekg(static_cast<std::streamoff>(read_));
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        read_ += line.size() + 1;
        lines.push_back(line);
    }
    if (lines.empty())
        return std::nullopt;
    if (lines.size() > 1)
        throw Error(
            fmt::format("{}: {} dispatches where one was made", path_.string(), lines.size()));
    LaunchStats out;
    try {
        const nlohmann::json stats = nlohmann::json::parse(lines[0]);
        if (stats.at("kernel").get<std::string>() != kernel)
            throw Error(fmt::format("{}: counts of {}, not of {}", path_.string(),
                                    stats.at("kernel").get<std::string>(), kernel));
        for (u64 i = 0; i < out.insts.count.size(); ++i)
            out.insts.count[i] =
                stats.at("insts").at(std::string(instruction_classes[i])).get<u64>();
        out.busy = busy_of(stats);
    } catch (const nlohmann::json::exception &e) {
        throw Error(fmt::format("{}: '{}': {}", path_.string(), lines[0], e.what()));
    }
    return out;
}

std::optional<Instructions> StatsFile::next(std::string_view kernel) {
    const std::optional<LaunchStats> launch = next_launch(kernel);
    return launch ? std::optional(launch->insts) : std::nullopt;
}

} // namespace nw::bench
