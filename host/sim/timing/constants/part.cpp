// SPDX-License-Identifier: MIT
#include "sim/timing/constants/part.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "base/error.h"
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

// Power of a unit is its rate, the clock times the share, times the square of a voltage that rises
// with the clock.
f64 Part::mhz_under(f64 wmma_share) const {
    const f64 boost = shader_mhz;
    return wmma_mhz == 0 ? boost
                         : std::min(boost, wmma_mhz / std::cbrt(std::max(wmma_share, 1e-3)));
}

namespace {

u32 number_of(std::string_view text, std::string_view rule) {
    u32 number = 0;
    const char *const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    if (error != std::errc{} || end != last)
        throw Error(std::string(rule));
    return number;
}

} // namespace

void set_power(Part &part, std::string_view text) {
    if (text.empty())
        return;
    if (part.wmma_mhz == 0)
        throw Error(fmt::format("the model limits the clock of WMMA alone, which the {} does not "
                                "have: set the clock",
                                part.name));
    const f64 least = std::floor(part.power_w / 5), most = std::floor(part.power_w * 1.5);
    const std::string rule = fmt::format("the {}'s power is a number from {} to {} W; it is rated "
                                         "for {}",
                                         part.name, least, most, part.power_w);
    const f64 watts = number_of(text, rule);
    if (watts < least || watts > most)
        throw Error(rule);
    part.wmma_mhz = static_cast<u32>(std::lround(part.wmma_mhz * std::cbrt(watts / part.power_w)));
}

void set_clock(Part &part, std::string_view text, bool is_limited) {
    if (text.empty() || text == "sustained")
        return;
    const u32 least = part.shader_mhz / 5, most = part.shader_mhz * 5 / 4;
    const std::string rule = fmt::format("the {}'s clock is sustained, boost, which is {} MHz, or "
                                         "a number from {} to {} MHz",
                                         part.name, part.shader_mhz, least, most);
    const u32 mhz = text == "boost" ? part.shader_mhz : number_of(text, rule);
    if (mhz < least || mhz > most)
        throw Error(rule);
    part.shader_mhz = mhz;
    if (!is_limited)
        part.wmma_mhz = 0;
}

} // namespace nw::sim::timing
