// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

#include "sim/func/frames.h"

namespace nw::sim {

namespace {

HostLevel from_environment() {
    const HostLevel best = host_levels().back();
    const char *wanted = std::getenv("HIPSIM_LEVEL");
    if (!wanted)
        return best;
    std::string known;
    for (HostLevel level : host_levels()) {
        if (name_of(level) == wanted)
            return level;
        known += fmt::format(" {}", name_of(level));
    }
    fmt::print(stderr, "hipsim: HIPSIM_LEVEL={}: this host has{}: ignored\n", wanted, known);
    return best;
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
        std::vector<HostLevel> all{HostLevel::base};
        if (__builtin_cpu_supports("x86-64-v3"))
            all.push_back(HostLevel::v3);
        if (__builtin_cpu_supports("x86-64-v4"))
            all.push_back(HostLevel::v4);
        return all;
    }());
    return levels;
}

const Frames &frames(HostLevel level) {
    return level == HostLevel::base ? base::level()
           : level == HostLevel::v3 ? v3::level()
                                    : v4::level();
}
HostLevel host_level() { return current(); }
const Frames &frames() { return frames(current()); }

HostLevelScope::HostLevelScope(HostLevel level) : saved_(current()) { current() = level; }
HostLevelScope::~HostLevelScope() { current() = saved_; }

} // namespace nw::sim
