// SPDX-License-Identifier: MIT
#include "runtime/force.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/types.h"
#include "runtime/catalogue.h"

namespace nw {

namespace {

// Letters to change, add or take away to make one name of the other.
u64 letters_apart(std::string_view a, std::string_view b) {
    std::vector<u64> row(b.size() + 1);
    std::iota(row.begin(), row.end(), u64{0});
    for (u64 i = 0; i < a.size(); ++i) {
        u64 diagonal = std::exchange(row[0], i + 1);
        for (u64 j = 0; j < b.size(); ++j) {
            const u64 changed = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

std::vector<std::string_view> nearest_names(std::string_view symbol, std::string_view gfx) {
    constexpr u64 count = 3;
    std::vector<std::pair<u64, std::string_view>> names;
    for (const Kernel &k : kernels(gfx))
        names.emplace_back(letters_apart(symbol, k.symbol), k.symbol);
    std::ranges::sort(names);
    std::vector<std::string_view> out;
    for (u64 i = 0; i < std::min<u64>(count, names.size()); ++i)
        out.push_back(names[i].second);
    return out;
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
