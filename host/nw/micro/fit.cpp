// SPDX-License-Identifier: MIT
#include "nw/micro/fit.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "base/error.h"

namespace nw::cli {

namespace {

using sim::timing::Costs, sim::timing::Field, sim::timing::Part, sim::timing::Profile;

// Costs and parts are different structs; the fit accesses both by name.
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
        throw Error(fmt::format("{}, which row \"{}\" measures, is not a constant of the model",
                                t.constant, t.row));
    }
    template <class Owner> static f64 nearest(const Field<Owner> &field, f64 value) {
        return std::clamp(field.whole ? std::round(value) : value, field.low, field.high);
    }

    Part part_;
    Costs costs_;
};

void set(Profile &profile, const Told &t, f64 value) {
    (t.of_part ? profile.facts : profile.constants)[t.constant] = value;
}

void forget(Profile &profile, const Told &t) {
    (t.of_part ? profile.facts : profile.constants).erase(t.constant);
}

// State of one constant's search.
struct Search {
    Fitted result;
    f64 value;     // the next candidate
    f64 error = 0; // the row's error at the start of the search
    f64 tried = 0; // the previous value and its measurement; 0: none
    f64 answered = 0;
    bool done = false;
};

// Transforms the constant so that its row is a nearly linear function of it.
f64 seen(const Told &t, f64 value) { return t.answer == Answer::inverse ? 1 / value : value; }

// The nominal slope of the row.
f64 said(const Search &s, f64 model) {
    const Told &t = s.result.told;
    return t.answer == Answer::adds ? t.scale : model / seen(t, s.value);
}

// The measured slope of the last step, in which other constants also changed.
f64 observed(const Search &s, f64 model) {
    const Told &t = s.result.told;
    if (s.answered == 0 || s.value == s.tried)
        return said(s, model);
    const f64 moved = (model - s.answered) / (seen(t, s.value) - seen(t, s.tried));
    const f64 ratio = moved / said(s, model);
    return ratio > 0.1 && ratio < 10 ? moved : said(s, model);
}

// The value for which the row would equal the card's.
f64 better(const Search &s, const Constants &constants, f64 model, f64 gain) {
    const Told &t = s.result.told;
    const f64 wanted = seen(t, s.value) + (s.result.card - model) / gain;
    return constants.legal(t, seen(t, wanted)); // seen() is its own inverse
}

// Updates the search with the measurement of the current value.
void step(Search &s, const Constants &constants, f64 model, bool first) {
    s.result.model = model;
    s.result.after = s.value;
    if (first)
        s.error = std::fabs(s.result.card - model);
    if (!(model > 0)) {
        s.result.why = "the model has no value for its row";
        return;
    }
    f64 next = better(s, constants, model, observed(s, model));
    if (next == s.value) // the row changed because of the others
        next = better(s, constants, model, said(s, model));
    s.done = std::fabs(next - s.value) <= 1e-3 * std::fabs(s.value);
    if (s.done)
        return;
    s.tried = s.value;
    s.answered = model;
    s.value = next;
}

// A constant that did not improve its row is reset. The tolerance is half a unit of the constant,
// since cycles are whole numbers.
void judge(Search &s) {
    Fitted &f = s.result;
    const f64 left = std::fabs(f.card - f.model);
    const f64 half = f.told.answer == Answer::adds ? 0.5 * std::fabs(f.told.scale) : 0;
    if (f.why.empty() && left > 0.5 * s.error && left > std::max(0.02 * f.card, half))
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

Fit fit(const micro::Report &card, const Part &part, const Measure &measure,
        const std::vector<std::string> &known) {
    if (card.gfx != part.gfx)
        throw Error(fmt::format("the rows are of {}, but {} is {}: choose the part with --part",
                                card.gfx, part.name, part.gfx));
    const Constants constants(part);
    const std::vector<Told> all = told(part);
    std::vector<Search> searching = searches(card, all, constants);
    Profile profile;
    profile.part = part.name;
    for (u32 i = 0; i < most_rounds && round(searching, profile, constants, measure, i == 0); ++i) {
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
