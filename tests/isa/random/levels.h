// SPDX-License-Identifier: MIT
// A program at every host level.
#pragma once
#include <fmt/format.h>

#include "isa/random/accepted.h"
#include "isa/random/check.h"

namespace nw::oracle {

// Where a lane was wrong.
struct Place {
    const std::string &gfx, &text;
    sim::HostLevel level;
    const Options &options;
};

// The code object once for each host level: what it has resolved belongs to one.
using Programs = std::vector<std::pair<sim::HostLevel, std::shared_ptr<const sim::Program>>>;

inline Programs load(const Accepted &a, const std::string &gfx, const Options &options) {
    Programs all;
    for (sim::HostLevel level : options.levels)
        all.emplace_back(level, sim::Program::load(a.code, gfx));
    return all;
}

// Whether the batch gives what `good` wants at every level.
template <class Good>
bool run_everywhere(const Programs &programs, const std::string &kernel, const std::string &text,
                    const std::string &gfx, Batch &b, Good good) {
    bool all = true;
    for (const auto &[level, program] : programs) {
        sim::HostLevelScope scope(level);
        try {
            run(*program, kernel, gfx, b);
            all &= good(level);
        } catch (const sim::Fault &fault) {
            fmt::print("{} wave{} {} {}: {}\n", gfx, b.wave, sim::name_of(level), text,
                       fault.what());
            all = false;
        }
    }
    return all;
}

} // namespace nw::oracle
