// SPDX-License-Identifier: MIT
#include "bench/validate/validate.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace nw::bench {

std::string summary(const std::vector<Validated> &rows) {
    f64 sum = 0;
    const Validated *worst = &rows.front();
    for (const Validated &row : rows) {
        sum += std::fabs(row.error_pct());
        if (std::fabs(row.error_pct()) > std::fabs(worst->error_pct()))
            worst = &row;
    }
    return fmt::format("{} rows: MAPE {:.2f} %, worst {:+.2f} % ({})", rows.size(),
                       sum / static_cast<f64>(rows.size()), worst->error_pct(), worst->fact);
}

nlohmann::json run_validate(const Options &o) {
    if (!o.device.empty() && !o.device.starts_with("sim"))
        throw Usage(fmt::format("--device {}: suite validate compares the model with published "
                                "numbers, on the simulated parts that they are of; for a card, use "
                                "nw micro",
                                o.device));
    const std::regex only = only_pattern(o);
    setenv("HIPSIM_TIMING", "on", 0); // read when the simulated library is opened
    std::vector<Validated> all;
    for (const auto group : {validate_cycles, validate_cliff, validate_decode}) {
        const std::vector<Validated> rows = group(only);
        all.insert(all.end(), rows.begin(), rows.end());
    }
    if (all.empty())
        throw Usage(fmt::format("--only {}: matches no fact", o.only));
    nlohmann::json json = nlohmann::json::array();
    for (const Validated &row : all)
        json.push_back({{"fact", row.fact},
                        {"group", row.group},
                        {"published", row.published},
                        {"modelled", row.modelled},
                        {"error_pct", row.error_pct()}});
    return json;
}

} // namespace nw::bench
