// SPDX-License-Identifier: MIT
// Cycles of single instructions by `nw micro`'s measurements, against gfx1100 and gfx1201 hardware.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <stdexcept>

#include "bench/published.h"
#include "bench/validate/tables.h"
#include "measure/micro/plan.h"

namespace nw::bench {

namespace {

std::string fact_of(const PublishedCycles &f) {
    return fmt::format("cycles {} {}", f.gfx, f.measurement);
}

// The measured values of one device, by name.
std::map<std::string, f64> measure(const std::string &gfx,
                                   const std::vector<PublishedCycles> &wanted, ModelRun &run) {
    const hip::Device &device = run.device(gfx);
    Modules modules(device);
    micro::Settings settings;
    settings.passes = 6; // the model's times do not vary
    settings.repeats = 1;
    std::map<std::string, f64> out;
    for (const micro::Group &group : micro::plan(device.info(), settings)) {
        const bool asked = std::ranges::any_of(wanted, [&](const PublishedCycles &f) {
            return gfx == f.gfx &&
                   (std::ranges::find(group.names, f.measurement) != group.names.end() ||
                    std::ranges::find(group.names, f.beyond) != group.names.end());
        });
        if (!asked)
            continue;
        for (const micro::Row &row : group.run(modules))
            out[row.name] = row.value;
    }
    return out;
}

} // namespace

Json measure_cycles(ModelRun &run) {
    std::vector<PublishedCycles> wanted;
    for (const PublishedCycles &f : read_published_cycles(NW_BENCH_DATA "/cycles.csv"))
        if (run.only.found_in(fact_of(f)))
            wanted.push_back(f);
    Json rows = Json::array();
    std::map<std::string, std::map<std::string, f64>> measured;
    for (const PublishedCycles &f : wanted) {
        if (!measured.contains(f.gfx))
            measured[f.gfx] = measure(f.gfx, wanted, run);
        const std::map<std::string, f64> &values = measured[f.gfx];
        const auto value = values.find(f.measurement);
        if (value == values.end())
            throw std::runtime_error( // not in this build
                fmt::format("nw micro has no measurement '{}' on {}", f.measurement, f.gfx));
        const f64 modelled = value->second - (f.beyond.empty() ? 0 : values.at(f.beyond));
        const f64 nearest = std::clamp(modelled, f.low, f.high), off = modelled - nearest;
        Json row = validated(fact_of(f), "cycles", nearest, modelled);
        row.update({{"_gfx", f.gfx},
                    {"_measurement", f.measurement},
                    {"_published", f.low == f.high ? fmt::format("{}", f.low)
                                                   : fmt::format("{} to {}", f.low, f.high)},
                    {"_off", off},
                    {"_source", f.source}});
        rows.push_back(row);
        if (run.done)
            run.done(row);
    }
    return rows;
}

Table begin_cycles(bool verbose) {
    fmt::print("Cycles of one wave (sim) against hardware; off: modelled beyond published\n\n");
    return Table(std::string("gfx {_gfx:<8}; measurement of nw micro {_measurement:<40}; "
                             "published {_published:>11}; modelled {modelled:>9.2f}; "
                             "off {_off:>+8.2f}") +
                 (verbose ? "; published by {_source}" : ""));
}

void summarize_cycles(const Json &rows) {
    const auto beyond = std::ranges::count_if(
        rows, [](const Json &row) { return std::fabs(row["_off"].get<f64>()) > 1; });
    fmt::print("\ncycles: {}; {} more than 1 cycle off\n", summary(rows), beyond);
}

} // namespace nw::bench
