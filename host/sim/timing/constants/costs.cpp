// SPDX-License-Identifier: MIT
#include "sim/timing/constants/costs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/targets.h"

namespace nw::sim::timing {

namespace {

constexpr Field<Costs> fields[] = {
#define COST(name, unit_, gfx110x, gfx115x, gfx120x, origin, note, low, high, what)                \
    NW_TIMING_FIELD(Costs, name, unit_, note, what, low, high),
#include "sim/timing/constants/costs.inc"
#undef COST
};

// Possible values of the column `origin`.
struct Source {
    Origin origin;
    Range likely;
    bool times; // likely is in multiples of the value

    Range range_of(f64 value, bool whole) const {
        const f64 unit = times ? value : 1;
        const Range range{likely.low * unit, likely.high * unit};
        return whole ? Range{std::round(range.low), std::round(range.high)} : range;
    }
};
constexpr Source fact{Origin::fact, {1, 1}, true};
constexpr Source fit(f64 low, f64 high) { return {Origin::fit, {low, high}, false}; }
constexpr Source fit_times(f64 low, f64 high) { return {Origin::fit, {low, high}, true}; }
constexpr Source guess(f64 low, f64 high) { return {Origin::guess, {low, high}, false}; }
[[maybe_unused]] constexpr Source guess_times(f64 low, f64 high) {
    return {Origin::guess, {low, high}, true};
}

constexpr Source sources[] = {
#define COST(name, unit_, gfx110x, gfx115x, gfx120x, origin, ...) origin,
#include "sim/timing/constants/costs.inc"
#undef COST
};

constexpr f64 columns[][3] = {
#define COST(name, unit_, gfx110x, gfx115x, gfx120x, ...) {gfx110x, gfx115x, gfx120x},
#include "sim/timing/constants/costs.inc"
#undef COST
};

constexpr std::string_view column_names[] = {"gfx110x", "gfx115x", "gfx120x"};

// An architecture whose costs are those of a column but for some rows. What is published for the
// column alone is a guess here (T-140).
struct Change {
    std::string_view name;
    f64 value;
    Source source;
};
constexpr Change gfx10_changes[] = {
#define GFX10(name, value, origin, note, what) {#name, value, origin},
#include "sim/timing/constants/gfx10_costs.inc"
#undef GFX10
};
constexpr std::string_view gfx10 = "gfx10", gfx10_column = "gfx110x";
constexpr Source taken_over = guess_times(0.7, 1.5);

struct Column {
    size_t index;
    std::span<const Change> changes;

    const Change *change(std::string_view name) const {
        const auto it = std::ranges::find(changes, name, &Change::name);
        return it == changes.end() ? nullptr : &*it;
    }
    Source source(size_t row) const {
        if (const Change *own = change(fields[row].name))
            return own->source;
        return !changes.empty() && sources[row].origin != Origin::guess ? taken_over : sources[row];
    }
};

Column column_of(std::string_view gfx) {
    const Target *target = find_target(gfx);
    const std::string_view costs = target ? target->costs : "";
    const bool changed = costs == gfx10;
    const auto column = std::ranges::find(column_names, changed ? gfx10_column : costs);
    if (column != std::end(column_names))
        return {static_cast<size_t>(column - std::begin(column_names)),
                changed ? std::span(gfx10_changes) : std::span<const Change>()};
    throw Error(fmt::format("{}: costs.inc has no column for it; it has {}, {}", gfx,
                            fmt::join(column_names, ", "), gfx10));
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
    const Column column = column_of(gfx);
    for (size_t n = 0; n < std::size(fields); ++n) {
        const Change *own = column.change(fields[n].name);
        fields[n].set(costs, own ? own->value : columns[n][column.index]);
    }
    return costs;
}

std::vector<Constant> constants(const Costs &costs, std::string_view gfx) {
    const Costs defaults = costs_for(gfx);
    const Column column = column_of(gfx);
    std::vector<Constant> list;
    for (size_t n = 0; n < std::size(fields); ++n) {
        const Field<Costs> &f = fields[n];
        const f64 value = f.get(costs);
        const Source source = column.source(n);
        const Range likely =
            value == f.get(defaults) ? source.range_of(value, f.whole) : Range{value, value};
        list.push_back({f.name, f.unit, value, source.origin, likely, f.note, f.what, f.whole});
    }
    return list;
}

std::span<const Field<Costs>> cost_fields() { return fields; }

} // namespace nw::sim::timing
