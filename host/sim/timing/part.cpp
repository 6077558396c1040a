// SPDX-License-Identifier: MIT
#include "sim/timing/part.h"

#include <algorithm>
#include <array>

namespace nw::sim::timing {

namespace {

struct Value {
    f64 value;
    Origin origin;
    constexpr Value(f64 v, Origin o = Origin::fact) : value(v), origin(o) {}
};

constexpr Value guess(f64 value) { return {value, Origin::guess}; }
[[maybe_unused]] constexpr Value fit(f64 value) { return {value, Origin::fit}; }

constexpr std::string_view names[][2] = {
#define PART(name, gfx) {name, gfx},
#define FACT(...)
#include "sim/timing/parts.inc"
#undef FACT
#undef PART
};
constexpr size_t part_count = std::size(names);

constexpr Field<Part> fields[] = {
#define PART(name, gfx)
#define FACT(name, unit_, note, low, high, what, ...)                                              \
    NW_TIMING_FIELD(Part, name, unit_, note, what, low, high),
#include "sim/timing/parts.inc"
#undef FACT
#undef PART
};

constexpr std::array<Value, part_count> values[] = {
#define PART(name, gfx)
#define FACT(name, unit_, note, low, high, what, ...) {__VA_ARGS__},
#include "sim/timing/parts.inc"
#undef FACT
#undef PART
};

std::array<Part, part_count> make_table() {
    std::array<Part, part_count> table;
    for (size_t p = 0; p < part_count; ++p) {
        table[p].name = names[p][0];
        table[p].gfx = names[p][1];
        for (size_t f = 0; f < std::size(fields); ++f)
            fields[f].set(table[p], values[f][p].value);
    }
    return table;
}

const std::array<Part, part_count> &table() {
    static const std::array<Part, part_count> parts = make_table();
    return parts;
}

const Part *first(auto matches) {
    auto it = std::find_if(table().begin(), table().end(), matches);
    return it == table().end() ? nullptr : &*it;
}

} // namespace

std::span<const Part> parts() { return table(); }

const Part *find_part(std::string_view name) {
    return first([&](const Part &p) { return p.name == name; });
}

const Part *default_part(std::string_view gfx) {
    return first([&](const Part &p) { return p.gfx == gfx; });
}

std::vector<Constant> constants(const Part &part) {
    const Part *row = find_part(part.name);
    std::vector<Constant> list;
    for (size_t n = 0; n < std::size(fields); ++n) {
        const Field<Part> &f = fields[n];
        Origin origin = row ? values[n][row - table().data()].origin : Origin::guess;
        list.push_back({f.name, f.unit, f.get(part), origin, f.note, f.what});
    }
    return list;
}

std::span<const Field<Part>> part_fields() { return fields; }

} // namespace nw::sim::timing
