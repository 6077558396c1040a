// SPDX-License-Identifier: MIT
// The suite validate: modelled figures of the simulated GPU against published ones of hardware.
#include <fmt/format.h>

#include "bench/validate/tables.h"

namespace nw::bench {

Result run_suite(const Options &o, const Shapes &) {
    if (!o.device.empty() && !o.device.starts_with("sim"))
        throw Usage(fmt::format("--device {}: suite validate compares the model with published "
                                "numbers, on the simulated parts that they are of; for a card, use "
                                "nw micro",
                                o.device));
    ModelRun run{Pattern("--only", o.only)};
    Result out{print_facts(run, o.verbose)};
    if (out.rows.empty())
        no_row(o, "the facts");
    return out;
}

} // namespace nw::bench
