// SPDX-License-Identifier: MIT
#include "sim/timing/constants/part.h"

#include <algorithm>

#include "base/parts.h"

namespace nw::sim::timing {

namespace {

constexpr Field<Part> fields[] = {
#define FACT(name, unit_, note, low, high, what)                                                   \
    NW_TIMING_FIELD(Part, name, unit_, note, what, low, high),
#include "sim/timing/constants/parts.inc"
#undef FACT
};

constexpr Estimate estimate(u32 published) {
    const f64 value = published;
    return {value, Origin::fact, {value, value}};
}
constexpr Estimate estimate(Estimate e) { return e; }

std::vector<Estimate> values(const nw::Part &part) {
    return {
#define FACT(name, ...) estimate(part.name),
#include "sim/timing/constants/parts.inc"
#undef FACT
    };
}

std::vector<Part> make_table() {
    std::vector<Part> table;
    for (const nw::Part &facts : nw::parts()) {
        Part &part = table.emplace_back();
        part.name = facts.name;
        part.gfx = facts.gfx;
        const std::vector<Estimate> all = values(facts);
        for (size_t f = 0; f < std::size(fields); ++f)
            fields[f].set(part, all[f].value);
    }
    return table;
}

const std::vector<Part> &table() {
    static const std::vector<Part> &parts = *new std::vector<Part>(make_table());
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
    const auto row = std::ranges::find(nw::parts(), part.name, &nw::Part::name);
    const std::vector<Estimate> known =
        row == nw::parts().end() ? std::vector<Estimate>{} : values(*row);
    std::vector<Constant> list;
    for (size_t n = 0; n < std::size(fields); ++n) {
        const Field<Part> &f = fields[n];
        const f64 value = f.get(part);
        const bool default_value = !known.empty() && value == known[n].value;
        const Origin origin = known.empty() ? Origin::guess : known[n].origin;
        const Range likely = default_value ? known[n].likely : Range{value, value};
        list.push_back({f.name, f.unit, value, origin, likely, f.note, f.what, f.whole});
    }
    return list;
}

std::span<const Field<Part>> part_fields() { return fields; }

} // namespace nw::sim::timing
