// SPDX-License-Identifier: MIT
#include "sim/check/found.h"

#include "sim/assemble.h"
#include "sim/check/checks.h"

namespace nw::sim::test {

std::string found_in(const std::string &gfx, u32 wave, const std::string &body) {
    Launch launch;
    launch.words = 2048;
    launch.block = {wave, 1, 1};
    launch.config.checker = checker({.wait = true});
    return fault_of(waiting_kernel(gfx, wave, body), launch);
}

} // namespace nw::sim::test
