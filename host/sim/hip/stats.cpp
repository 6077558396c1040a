// SPDX-License-Identifier: MIT
#include "sim/hip/stats.h"

#include <nlohmann/json.hpp>

#include "sim/timing/launch_json.h"

namespace nw::hipsim {

void StatsFile::write(const sim::Dispatch &dispatch, const sim::Device &device,
                      const sim::RunStats &stats, const sim::timing::Result *times) {
    file_.append(sim::timing::launch_json(dispatch, device, stats, times));
}

} // namespace nw::hipsim
