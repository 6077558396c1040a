// SPDX-License-Identifier: MIT
#include "cli/micro_fit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <set>

#include "base/error.h"
#include "micro/chase.h"

namespace nw::cli {

namespace {

using sim::timing::Costs, sim::timing::Field, sim::timing::Part, sim::timing::Profile;

constexpr u32 rounds = 6;

// A walk that is well inside of a cache, and none of the cache before it.
std::string walk(std::string_view path, u64 size) {
    return micro::chase_name(path, std::bit_floor(size) / 2);
}

// Costs and parts are fields of different structs; a fit wants their values by name only.
class Constants {
public:
    explicit Constants(const Part &part) : part_(part), costs_(sim::timing::costs_for(part.gfx)) {}

    f64 get(const Told &t) const {
        return t.of_part ? find(sim::timing::part_fields(), t).get(part_)
                         : find(sim::timing::cost_fields(), t).get(costs_);
    }
    // The nearest legal value.
    f64 legal(const Told &t, f64 value) const {
        return t.of_part ? nearest(find(sim::timing::part_fields(), t), value)
                         : nearest(find(sim::timing::cost_fields(), t), value);
    }

private:
    template <class Owner>
    static const Field<Owner> &find(std::span<const Field<Owner>> fields, const Told &t) {
        for (const Field<Owner> &field : fields)
            if (field.name == t.constant)
                return field;
        throw Error(fmt::format("{} is told by \"{}\", but is no constant of the model", t.constant,
                                t.row));
    }
    template <class Owner> static f64 nearest(const Field<Owner> &field, f64 value) {
        return std::clamp(field.whole ? std::round(value) : value, field.low, field.high);
    }

    Part part_;
    Costs costs_;
};

// A better value, from what the card and the model measure.
f64 next(const Told &t, f64 value, f64 card, f64 model) {
    switch (t.answer) {
    case Answer::adds:
        return value + (card - model) / t.scale;
    case Answer::proportional:
        return value * card / model;
    case Answer::inverse:
        return value * model / card;
    }
    return value;
}

void set(Profile &profile, const Told &t, f64 value) {
    (t.of_part ? profile.facts : profile.constants)[t.constant] = value;
}

void forget(Profile &profile, const Told &t) {
    (t.of_part ? profile.facts : profile.constants).erase(t.constant);
}

// One constant on its way.
struct Search {
    Fitted result;
    f64 value;
    f64 error = 0; // of the row, where the search began
    bool done = false;
};

// Takes what the model measured with the search's value, and moves on.
void step(Search &s, const Constants &constants, f64 model, bool first) {
    const f64 card = s.result.card;
    s.result.model = model;
    s.result.after = s.value;
    if (first)
        s.error = std::fabs(card - model);
    if (!(model > 0))
        s.result.why = "the model has no time for its row";
    const f64 better = constants.legal(s.result.told, next(s.result.told, s.value, card, model));
    s.done = !(model > 0) || std::fabs(better - s.value) <= 1e-3 * std::fabs(s.value);
    if (!s.done)
        s.value = better;
}

// A constant that did not bring its row nearer keeps what it had.
void judge(Search &s) {
    Fitted &f = s.result;
    const f64 left = std::fabs(f.card - f.model);
    if (f.why.empty() && left > 0.5 * s.error && left > 0.02 * f.card)
        f.why =
            fmt::format("its row stays at {:.2f} on the model: something else limits it", f.model);
    if (!f.why.empty())
        f.after = f.before;
}

std::vector<std::string> untold(const std::vector<Told> &all) {
    std::set<std::string_view> have;
    for (const Told &t : all)
        have.insert(t.constant);
    std::vector<std::string> out;
    for (const auto &field : sim::timing::cost_fields())
        if (!have.count(field.name))
            out.emplace_back(field.name);
    for (const auto &field : sim::timing::part_fields())
        if (!have.count(field.name))
            out.emplace_back(field.name);
    return out;
}

std::vector<Search> searches(const micro::Report &card, const std::vector<Told> &all,
                             const Constants &constants) {
    std::vector<Search> out;
    for (const Told &t : all) {
        const micro::Row *row = card.find(t.row);
        const f64 value = constants.get(t);
        Search s{{t, value, value, row ? row->value : 0, 0, ""}, value};
        if (!row)
            s.result.why = "the card's file has no such row";
        else if (!(row->value > 0))
            s.result.why = fmt::format("the card's row is {}", row->value);
        s.done = !s.result.why.empty();
        out.push_back(std::move(s));
    }
    return out;
}

bool round(std::vector<Search> &all, Profile &profile, const Constants &constants,
           const Measure &measure, bool first) {
    std::vector<std::string> names;
    for (const Search &s : all)
        if (s.result.why.empty()) {
            set(profile, s.result.told, s.value);
            names.push_back(s.result.told.row);
        }
    if (names.empty())
        return false;
    const micro::Report model = measure(profile, names);
    bool moved = false;
    for (Search &s : all)
        if (s.result.why.empty()) {
            const micro::Row *row = model.find(s.result.told.row);
            step(s, constants, row ? row->value : 0, first);
            moved |= !s.done;
        }
    return moved;
}

} // namespace

std::vector<Told> told(const Part &part, u64 bytes) {
    const u64 far = std::bit_floor(std::max(bytes / 2, u64{1} << 20)); // the longest walk there is
    const f64 cycles_of_ns = part.shader_mhz / 1000.0;
    std::vector<Told> all{
        {"shader_mhz", true, "shader clock", Answer::proportional, 1},
        {"launch_overhead", true, "launch of one workgroup", Answer::adds, 1},
        {"l0_latency", false, walk("vector", part.l0_size), Answer::adds, 1},
        {"scalar_latency", false, walk("scalar", part.scalar_size), Answer::adds, 1},
        {"l2_latency", false, walk("vector", part.l2_size), Answer::adds, 1},
        {"store_latency", false, "global_store_b32>wait", Answer::adds, 1},
        {"l0_bytes", false, "global_load_b128, stride 4", Answer::inverse, 1},
        {"l0_lookups", false, "global_load_b32, stride 32", Answer::inverse, 1},
        {"store_bytes", false, "global_store_b128, stride 4", Answer::inverse, 1},
        {"dram_latency", true, micro::chase_name("vector", far), Answer::adds, cycles_of_ns},
        {"dram_efficiency", true, "stream 4096 B in flight, 8 waves a SIMD", Answer::proportional,
         1},
    };
    if (part.gl1_size)
        all.push_back({"gl1_latency", false, walk("vector", part.gl1_size), Answer::adds, 1});
    if (part.mall_size) {
        all.push_back(
            {"mall_latency", true, walk("vector", part.mall_size), Answer::adds, cycles_of_ns});
        all.push_back({"mall_gb_per_s", true, "stream again, 16 MiB", Answer::proportional, 1});
    }
    return all;
}

Fit fit(const micro::Report &card, const Part &part, const Measure &measure,
        const std::vector<std::string> &known) {
    if (card.gfx != part.gfx)
        throw Error(fmt::format("the rows are of {}, but {} is {}; --part names the part", card.gfx,
                                part.name, part.gfx));
    const Constants constants(part);
    const std::vector<Told> all = told(part, card.bytes);
    std::vector<Search> searching = searches(card, all, constants);
    Profile profile;
    profile.part = part.name;
    for (u32 i = 0; i < rounds && round(searching, profile, constants, measure, i == 0); ++i) {
    }
    Fit out{profile, {}, untold(all), {}};
    for (Search &s : searching) {
        judge(s);
        if (s.result.why.empty())
            set(out.profile, s.result.told, s.result.after);
        else
            forget(out.profile, s.result.told);
        out.constants.push_back(s.result);
    }
    for (const micro::Row &row : card.rows)
        if (std::find(known.begin(), known.end(), row.name) == known.end())
            out.unknown.push_back(row.name);
    return out;
}

} // namespace nw::cli
