// SPDX-License-Identifier: MIT
#include "runtime/force.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"
#include "runtime/catalogue.h"

namespace nw {

namespace {

std::vector<std::string_view> nearest_names(std::string_view symbol, std::string_view gfx) {
    std::vector<std::string_view> names;
    for (const Kernel &k : kernels(gfx))
        names.push_back(k.symbol);
    return nearest(symbol, std::move(names), 3);
}

} // namespace

const Kernel &find_forced(std::string_view symbol, std::string_view gfx) {
    if (const Kernel *found = find_kernel(gfx, symbol)) {
        need_built(*found);
        return *found;
    }
    if (const auto others = targets_with(symbol); !others.empty())
        throw Error(fmt::format("NIBBLEWAVE_FORCE={}: there is one for {}, the device is a {}",
                                symbol, fmt::join(others, ", "), gfx));
    throw Error(fmt::format("NIBBLEWAVE_FORCE={}: there is no such kernel; the nearest names on {} "
                            "are {}",
                            symbol, gfx, fmt::join(nearest_names(symbol, gfx), ", ")));
}

const Kernel *forced(std::string_view family, std::string_view gfx) {
    static const std::string symbol = [] {
        const char *value = std::getenv("NIBBLEWAVE_FORCE");
        return std::string(value ? value : "");
    }();
    if (symbol.empty()) [[likely]]
        return nullptr;
    const Kernel &kernel = find_forced(symbol, gfx);
    return kernel.family == family ? &kernel : nullptr;
}

} // namespace nw
