// SPDX-License-Identifier: MIT
// A kernel at every host level.
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

// True if the batch's results satisfy `good` at every host level.
template <class Good>
bool run_everywhere(const sim::Program &program, const std::string &kernel, const Place &where,
                    Batch &b, Good good) {
    bool all = true;
    for (sim::HostLevel level : where.options.levels) {
        const Place place{where.gfx, where.text, level, where.options};
        sim::HostLevelScope scope(level);
        try {
            run(program, kernel, where.gfx, b);
            all &= good(place);
        } catch (const sim::Fault &fault) {
            fmt::print("{} wave{} {} {}: {}\n", where.gfx, b.wave, sim::name_of(level), where.text,
                       fault.what());
            all = false;
        }
    }
    return all;
}

} // namespace nw::oracle
