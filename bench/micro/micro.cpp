// SPDX-License-Identifier: MIT
// The suite micro: what nw micro measures, as rows of a bench.
#include <algorithm>
#include <fmt/format.h>

#include "base/pattern.h"
#include "base/progress.h"
#include "bench/result.h"
#include "measure/micro/plan.h"

namespace nw::bench {

namespace {

Json to_json(const micro::Row &row) {
    Json json = {{"name", row.name},
                 {"unit", row.unit},
                 {"value", row.value},
                 {"low", row.low},
                 {"high", row.high}};
    if (row.unit == "GB/s")
        json["gb_per_s"] = row.value;
    if (row.unit == "us")
        json["time_us"] = row.value;
    return json;
}

} // namespace

Result run_suite(const Options &o, const Shapes &) {
    const Pattern only("--only", o.only);
    const hip::Device device(o.device, "timing=on");
    Result out;
    out.device = device.info().label;
    const auto asked = [&](const std::string &name) { return only.found_in(name); };
    std::vector<micro::Group> groups =
        micro::plan(device.info(), micro::settings_for(device.info()));
    std::erase_if(groups,
                  [&](const micro::Group &g) { return std::ranges::none_of(g.names, asked); });
    if (groups.empty())
        throw Usage(
            fmt::format("--only {}: matches no measurement; nw micro --list shows them", o.only));
    fmt::print("Measurements of nw micro on {}, medians\n\n", device.info().label);
    Table table("measurement {name:<56}; median {value:>10.2f}; unit {unit}");
    Modules modules(device);
    Progress progress(groups.size());
    for (const micro::Group &group : groups) {
        progress.show(group.title);
        const std::vector<micro::Row> measured = group.run(modules);
        progress.clear();
        progress.advance(1);
        for (const micro::Row &row : measured)
            if (asked(row.name)) {
                out.rows.push_back(to_json(row));
                table.print(out.rows.back());
            }
    }
    return out;
}

} // namespace nw::bench
