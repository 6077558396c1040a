// SPDX-License-Identifier: MIT
#include "nw/gfx.h"

#include <algorithm>
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
    throw Error(fmt::format("--gfx {}: not simulated; choose one of{}", gfx, known));
}

void check_readable_gfx(const std::string &gfx) {
    constexpr std::string_view gfx10[] = {"gfx1010", "gfx1011", "gfx1012", "gfx1013",
                                          "gfx1030", "gfx1031", "gfx1032", "gfx1033",
                                          "gfx1034", "gfx1035", "gfx1036"};
    if (std::ranges::find(gfx10, gfx) == std::end(gfx10))
        check_gfx(gfx);
}

std::string one_gfx(const std::string &gfx) {
    for (const auto &[generic, first] : {std::pair{"gfx10-1-generic", "gfx1010"},
                                         {"gfx10-3-generic", "gfx1030"},
                                         {"gfx11-generic", "gfx1100"},
                                         {"gfx12-generic", "gfx1200"}})
        if (gfx == generic)
            return first;
    return gfx;
}

} // namespace nw::cli
