// SPDX-License-Identifier: MIT
#include "nw/micro/model.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "base/temporary_folder.h"
#include "measure/micro/plan.h"

namespace nw::cli {

Measure on_model(const sim::timing::Part &part, u64 bytes) {
    return
        [&part, bytes](const sim::timing::Profile &profile, const std::vector<std::string> &names) {
            const TemporaryFolder scratch("the model's profile");
            const std::string path = scratch.file("profile.json");
            sim::timing::write_profile(path, profile);
            const hip::Device device = hip::Device::own(
                fmt::format("sim:{}?timing=on&part={}&profile={}", part.gfx, part.name, path));
            micro::Settings settings = micro::settings_for(device.info());
            settings.bytes = std::max<u64>(1, bytes >> 20) << 20;
            const auto wanted = [&](const std::string &name) {
                return std::ranges::find(names, name) != names.end();
            };
            Modules modules(device);
            micro::Report report{device.info().label, device.info().gfx, true, settings.bytes, {}};
            for (const micro::Group &group : micro::plan(device.info(), settings))
                if (std::ranges::any_of(group.names, wanted))
                    std::ranges::copy_if(group.run(modules), std::back_inserter(report.rows),
                                         wanted, &micro::Row::name);
            return report;
        };
}

} // namespace nw::cli
