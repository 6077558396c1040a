// SPDX-License-Identifier: MIT
#include "measure/micro/plan.h"

#include <fmt/format.h>

#include "base/error.h"

namespace nw::micro {

Settings settings_for(const hip::DeviceInfo &device) {
    Settings s;
    if (device.simulated) {
        s.passes = 6;
        s.repeats = 1;
        s.bytes = 64ull << 20;
    }
    return s;
}

std::vector<Group> plan(const hip::DeviceInfo &device, const Settings &settings) {
    if (settings.passes < 1 || settings.passes > 32)
        throw Error(fmt::format("{} passes: a record has room for 1 to 32", settings.passes));
    if (settings.repeats < 1)
        throw Error("0 repeats: at least 1 is needed");
    std::vector<Group> groups;
    add_rates(groups, device, settings);
    add_clocks(groups, device, settings);
    add_shares(groups, device, settings);
    add_lanes(groups, device, settings);
    add_chases(groups, device, settings);
    add_walks(groups, device, settings);
    add_streams(groups, device, settings);
    add_launches(groups, device, settings);
    return groups;
}

} // namespace nw::micro
