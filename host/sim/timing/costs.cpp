// SPDX-License-Identifier: MIT
#include "sim/timing/costs.h"

#include <fmt/format.h>

#include "base/error.h"

namespace nw::sim::timing {

namespace {

constexpr Field<Costs> fields[] = {
#define COST(name, unit_, gfx11, gfx115x, gfx12, origin, note, low, high, what)                    \
    NW_TIMING_FIELD(Costs, name, unit_, note, what, low, high),
#include "sim/timing/costs.inc"
#undef COST
};

constexpr Origin origins[] = {
#define COST(name, unit_, gfx11, gfx115x, gfx12, origin, ...) Origin::origin,
#include "sim/timing/costs.inc"
#undef COST
};

constexpr f64 columns[][3] = {
#define COST(name, unit_, gfx11, gfx115x, gfx12, ...) {gfx11, gfx115x, gfx12},
#include "sim/timing/costs.inc"
#undef COST
};

size_t column_of(std::string_view gfx) {
    if (gfx.starts_with("gfx110"))
        return 0;
    if (gfx.starts_with("gfx115"))
        return 1;
    if (gfx.starts_with("gfx120"))
        return 2;
    throw Error(
        fmt::format("{}: costs.inc has no column for it; it has gfx110x, gfx115x, gfx120x", gfx));
}

} // namespace

std::string_view name(Origin origin) {
    switch (origin) {
    case Origin::fact:
        return "fact";
    case Origin::fit:
        return "fit";
    case Origin::guess:
        return "guess";
    }
    return "";
}

Costs costs_for(std::string_view gfx) {
    Costs costs;
    size_t column = column_of(gfx);
    for (size_t n = 0; n < std::size(fields); ++n)
        fields[n].set(costs, columns[n][column]);
    return costs;
}

std::vector<Constant> constants(const Costs &costs) {
    std::vector<Constant> list;
    for (size_t n = 0; n < std::size(fields); ++n) {
        const Field<Costs> &f = fields[n];
        list.push_back({f.name, f.unit, f.get(costs), origins[n], f.note, f.what});
    }
    return list;
}

std::span<const Field<Costs>> cost_fields() { return fields; }

} // namespace nw::sim::timing
