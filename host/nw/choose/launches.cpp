// SPDX-License-Identifier: MIT
#include "nw/choose/launches.h"

#include <fmt/format.h>

#include "nw/choose/row.h"

namespace nw::cli {

void print_resources(Launches launches) {
    for (const Kernel *k : launches)
        row(k == launches.front() ? "registers" : "",
            fmt::format("{}: {} VGPRs, {} SGPRs, {} bytes of LDS, {} waves per SIMD", k->symbol,
                        k->vgprs, k->sgprs, k->lds_bytes, k->waves_per_simd));
}

nlohmann::json launches_json(Launches launches) {
    nlohmann::json out = nlohmann::json::array();
    for (const Kernel *k : launches)
        out.push_back({{"kernel", k->symbol},
                       {"vgprs", k->vgprs},
                       {"sgprs", k->sgprs},
                       {"lds_bytes", k->lds_bytes},
                       {"waves_per_simd", k->waves_per_simd},
                       {"block", k->block}});
    return out;
}

} // namespace nw::cli
