// SPDX-License-Identifier: MIT
// All groups of facts.
#include <fmt/format.h>
#include <optional>

#include "bench/published.h"
#include "bench/validate/tables.h"
#include "measure/on_cores.h"

namespace nw::bench {

namespace {

struct Group {
    Json (*measure)(ModelRun &);
    Table (*begin)(bool verbose);
    void (*summarize)(const Json &);
    bool of_device = true; // else of the model itself: no profile of a device changes it
};
constexpr Group groups[] = {{measure_cycles, begin_cycles, summarize_cycles},
                            {measure_dispatch, begin_dispatch, summarize_dispatch, false},
                            {measure_traces, begin_traces, summarize_traces, false},
                            {measure_cliff, begin_cliff, summarize_cliff},
                            {measure_decode, begin_decode, summarize_decode}};

} // namespace

const hip::Device &ModelRun::device(const std::string &gfx) {
    if (const auto found = devices.find(gfx); found != devices.end())
        return found->second;
    std::string spec = "sim:" + gfx;
    if (!profile.empty() && gfx == published_gfx)
        spec += "?profile=" + profile;
    return devices.emplace(gfx, model_device(spec, at_once)).first->second;
}

Json measure_facts(ModelRun &run) {
    Json rows = Json::array();
    for (const Group &group : groups)
        if (group.of_device)
            append(rows, group.measure(run));
    return rows;
}

Json validated(const std::string &fact, std::string_view group, f64 published, f64 modelled) {
    return {{"fact", fact},
            {"group", group},
            {"published", published},
            {"modelled", modelled},
            {"error_pct", error_pct(modelled, published)}};
}

std::string summary(const Json &rows) {
    std::vector<f64> errors;
    for (const Json &row : rows)
        errors.push_back(row["error_pct"]);
    const Errors100 all = summarize(errors);
    std::string worst;
    for (const Json &row : rows)
        if (worst.empty() && row["error_pct"] == all.worst)
            worst = row["fact"];
    return fmt::format("{} rows: MAPE {:.2f} %, worst {:+.2f} % ({})", rows.size(), all.mape,
                       all.worst, worst);
}

Json print_facts(ModelRun &run, bool verbose) {
    Json out = Json::array();
    for (const auto &[measure, begin, summarize, of_device] : groups) {
        std::optional<Table> table;
        run.done = [&, begin = begin](const Json &row) {
            if (!table)
                table.emplace(begin(verbose));
            table->print(row);
        };
        const Json rows = measure(run);
        if (!rows.empty())
            summarize(rows);
        append(out, rows);
    }
    return out;
}

} // namespace nw::bench
