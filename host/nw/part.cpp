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

void add_clock_options(Command &command, std::string &clock, std::string &power) {
    command.add(
        "--clock", &clock,
        "Shader clock of the simulated part: sustained (default: boost, lower where WMMA is so "
        "busy that the rated power limits it), boost, or MHz, which are held");
    command.add("--power", &power, "Power limit in W, in place of the rated one");
}

void apply_clock(const std::string &clock, const std::string &power, Part &part) {
    const auto from = [](std::string_view option, const std::string &value, auto set) {
        try {
            set();
        } catch (const Error &error) {
            throw Error(fmt::format("{} {}: {}", option, value, error.what()));
        }
    };
    from("--power", power, [&] { set_power(part, power); });
    from("--clock", clock, [&] { set_clock(part, clock, !power.empty()); });
}

} // namespace nw::cli
