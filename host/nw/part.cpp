// SPDX-License-Identifier: MIT
#include "nw/part.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

#include "base/error.h"
#include "sim/timing/constants/profile.h"

namespace nw::cli {

using sim::timing::Part;

std::string part_names() {
    std::vector<std::string> names;
    for (const Part &p : sim::timing::parts())
        names.push_back(fmt::format("\"{}\" ({})", p.name, p.gfx));
    return fmt::format("{}", fmt::join(names, ", "));
}

const Part &part_of_name(const std::string &name) {
    if (const Part *part = sim::timing::find_part(name))
        return *part;
    throw Error(fmt::format("--part {}: unknown; choose one of {}", name, part_names()));
}

void apply_profile(const std::string &path, Part &part, sim::timing::Costs &costs) {
    const auto profile = sim::timing::read_profile(path);
    if (!sim::timing::apply(profile, part, costs))
        throw Error(fmt::format("--profile {}: is for the part {}, not {}: give --part \"{}\"",
                                path, profile.part, part.name, profile.part));
}

} // namespace nw::cli
