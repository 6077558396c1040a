// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <stdexcept>

#include "base/error.h"
#include "sim/func/alu/frames.h"

namespace nw::sim {

namespace {

struct Level {
    HostLevel name;
    bool (*supported)();
    const Frames &(*frames)();
};

// The worst one first; the build says which there are.
const Level built[] = {
#ifdef NW_HAS_base
    {HostLevel::base, [] { return true; }, base::level},
#endif
#ifdef NW_HAS_v3
    {HostLevel::v3, [] { return __builtin_cpu_supports("x86-64-v3") != 0; }, v3::level},
#endif
#ifdef NW_HAS_v4
    {HostLevel::v4, [] { return __builtin_cpu_supports("x86-64-v4") != 0; }, v4::level},
#endif
};

HostLevel from_environment() {
    const HostLevel best = host_levels().back();
    const char *wanted = std::getenv("HIPSIM_LEVEL");
    if (!wanted || !*wanted)
        return best;
    std::vector<std::string_view> known;
    for (HostLevel level : host_levels()) {
        if (name_of(level) == wanted)
            return level;
        known.push_back(name_of(level));
    }
    throw Error(fmt::format("HIPSIM_LEVEL={}: this build has {} for this host", wanted,
                            fmt::join(known, ", ")));
}

HostLevel &current() {
    static HostLevel level = from_environment();
    return level;
}

} // namespace

std::string_view name_of(HostLevel level) {
    return level == HostLevel::base ? "base" : level == HostLevel::v3 ? "v3" : "v4";
}

const std::vector<HostLevel> &host_levels() {
    static const auto &levels = *new std::vector<HostLevel>([] {
        std::vector<HostLevel> all;
        for (const Level &level : built)
            if (level.supported())
                all.push_back(level.name);
        if (all.empty())
            throw std::runtime_error(
                "this simulator was built for a CPU with more vector instructions than this one "
                "has: configure with -DNIBBLEWAVE_SIM_LEVELS=all, or build it here");
        return all;
    }());
    return levels;
}

const Frames &frames(HostLevel level) {
    const auto found = std::ranges::find(built, level, &Level::name);
    if (found == std::end(built))
        throw std::logic_error(fmt::format("level {} is not built", name_of(level)));
    return found->frames();
}
HostLevel host_level() { return current(); }
const Frames &frames() { return frames(current()); }

HostLevelScope::HostLevelScope(HostLevel level) : saved_(current()) { current() = level; }
HostLevelScope::~HostLevelScope() { current() = saved_; }

} // namespace nw::sim
