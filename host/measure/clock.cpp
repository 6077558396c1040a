// SPDX-License-Identifier: MIT
#include "measure/clock.h"

#include <cstdlib>
#include <fmt/format.h>

namespace nw {

std::string clock_text(f64 shader_mhz, f64 wmma_mhz) {
    if (wmma_mhz == 0 || wmma_mhz >= shader_mhz)
        return fmt::format("{} MHz", shader_mhz);
    return fmt::format("{} MHz ({} where WMMA is always busy)", shader_mhz, wmma_mhz);
}

void set_simulated_clock(const std::string &clock, const std::string &power) {
    if (!clock.empty())
        setenv("HIPSIM_CLOCK", clock.c_str(), 1);
    if (!power.empty())
        setenv("HIPSIM_POWER", power.c_str(), 1);
}

} // namespace nw
