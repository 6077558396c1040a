// SPDX-License-Identifier: MIT
// The suite validate: modelled figures of the simulated GPU against published ones of hardware.
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

#include "bench/validate/tables.h"

namespace nw::bench {

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

Result run_validate(const Options &o, const Shapes &) {
    if (!o.device.empty() && !o.device.starts_with("sim"))
        throw Usage(fmt::format("--device {}: suite validate compares the model with published "
                                "numbers, on the simulated parts that they are of; for a card, use "
                                "nw micro",
                                o.device));
    const std::regex only = only_pattern(o);
    setenv("HIPSIM_TIMING", "on", 0); // read when the simulated library is opened
    Result out;
    for (const auto group : {validate_cycles, validate_cliff, validate_decode})
        append(out.rows, group(only));
    if (out.rows.empty())
        throw Usage(fmt::format("--only {}: matches no fact", o.only));
    return out;
}

} // namespace nw::bench
