// SPDX-License-Identifier: MIT
#include "cli/gfx.h"

#include <fmt/format.h>

#include "base/error.h"
#include "sim/func/machine.h"

namespace nw::cli {

void check_gfx(const std::string &gfx) {
    if (sim::find_device(gfx))
        return;
    std::string known;
    for (const sim::Device &d : sim::devices())
        known += fmt::format(" {}", d.gfx);
    throw Error(fmt::format("--gfx {}: not a gfx that is simulated; choose one of{}", gfx, known));
}

} // namespace nw::cli
