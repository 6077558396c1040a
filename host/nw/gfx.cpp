// SPDX-License-Identifier: MIT
#include "nw/gfx.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"
#include "base/targets.h"

namespace nw::cli {

void check_gfx(const std::string &gfx) {
    if (std::ranges::find(targets(), gfx, &Target::name) != targets().end())
        return;
    throw Error(fmt::format("--gfx {}: not simulated; choose one of {}", gfx, target_names()));
}

void check_readable_gfx(const std::string &gfx) {
    if (const Target *target = find_target(gfx); !target || target->generic)
        check_gfx(gfx);
}

std::string one_gfx(const std::string &gfx) {
    const Target *generic = find_target(gfx);
    if (!generic || !generic->generic)
        return gfx;
    const auto first = std::ranges::find_if(
        known_targets(), [&](const Target &t) { return !t.generic && t.runs(*generic); });
    return std::string(first->name); // each series has some
}

} // namespace nw::cli
