// SPDX-License-Identifier: MIT
#include "nw/micro/model.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>

#include "base/error.h"
#include "measure/micro/plan.h"

namespace nw::cli {

namespace {

namespace fs = std::filesystem;

// A temporary directory, removed by the destructor.
class Scratch {
public:
    Scratch() {
        std::string name = fs::temp_directory_path() / "nw_micro_XXXXXX";
        if (!mkdtemp(name.data()))
            throw Error(fmt::format("{}: can't create a directory there", name));
        path_ = name;
    }
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    std::string operator/(const char *name) const { return path_ / name; }

private:
    fs::path path_;
};

} // namespace

Measure on_model(const sim::timing::Part &part, u64 bytes) {
    return
        [&part, bytes](const sim::timing::Profile &profile, const std::vector<std::string> &names) {
            const Scratch scratch;
            const std::string path = scratch / "profile.json";
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
