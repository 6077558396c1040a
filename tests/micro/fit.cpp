// SPDX-License-Identifier: MIT
// The fit against a model made up here, whose rows are known functions of the constants.
#include <algorithm>
#include <doctest/doctest.h>
#include <map>

#include "base/error.h"
#include "nw/micro/fit.h"

using namespace nw;
using namespace nw::cli;
using sim::timing::Part, sim::timing::Profile;

namespace {

constexpr u64 bytes = 64ull << 20;

const Part &part() { return *sim::timing::find_part("8060S"); }

f64 value(const Profile &profile, const std::string &constant) {
    Part p = part();
    sim::timing::Costs costs = sim::timing::costs_for(p.gfx);
    sim::timing::apply(profile, p, costs);
    for (const auto &f : sim::timing::part_fields())
        if (f.name == constant)
            return f.get(p);
    for (const auto &f : sim::timing::cost_fields())
        if (f.name == constant)
            return f.get(costs);
    FAIL("no constant ", constant);
    return 0;
}

// Every measured row exceeds its constant: a latency by its overhead, a rate by its loss. A longer
// queue lets a wave go on earlier.
f64 row(const Told &t, const Profile &profile) {
    const f64 v = value(profile, t.constant);
    switch (t.answer) {
    case Answer::adds:
        return v * t.scale + 7 + (t.scale < 0 ? -200 * t.scale : 0);
    case Answer::proportional:
        return 3 * v / (1 + v / 50000);
    case Answer::inverse:
        return 512 / v + 0.25;
    }
    return 0;
}

micro::Report measured(const Profile &profile, const std::vector<std::string> *names = nullptr) {
    micro::Report report{"made up", "gfx1151", true, bytes, {}};
    for (const Told &t : told(part()))
        if (!names || std::find(names->begin(), names->end(), t.row) != names->end()) {
            micro::Row r;
            r.name = t.row;
            r.value = row(t, profile);
            report.rows.push_back(r);
        }
    return report;
}

micro::Report model(const Profile &profile, const std::vector<std::string> &names) {
    return measured(profile, &names);
}

std::vector<std::string> known() {
    std::vector<std::string> out;
    for (const Told &t : told(part()))
        out.push_back(t.row);
    return out;
}

const Fitted &of(const Fit &fit, const std::string &constant) {
    for (const Fitted &f : fit.constants)
        if (f.told.constant == constant)
            return f;
    FAIL("not in the fit: ", constant);
    return fit.constants.front();
}

const Profile changed = [] {
    Profile p;
    p.part = "8060S";
    p.constants = {{"l0_latency", 111}, {"l2_latency", 301}, {"l0_bytes", 64}};
    p.facts = {{"shader_mhz", 2600}, {"mall_latency", 171.5}, {"dram_efficiency", 0.81}};
    return p;
}();

} // namespace

TEST_CASE("a card that is the model as it is gives back the model's constants") {
    const Fit done = fit(measured({}), part(), model, known());
    for (const Fitted &f : done.constants) {
        INFO(f.told.constant, " ", f.why);
        CHECK(f.why.empty());
        CHECK(f.after == doctest::Approx(f.before));
    }
    CHECK(done.unknown.empty());
}

TEST_CASE("constants that were changed are found again") {
    const Fit done = fit(measured(changed), part(), model, known());
    for (const Fitted &f : done.constants) {
        INFO(f.told.constant, " ", f.why);
        CHECK(f.why.empty());
        CHECK(f.after == doctest::Approx(value(changed, f.told.constant)).epsilon(0.005));
        CHECK(f.model == doctest::Approx(f.card).epsilon(0.005));
        CHECK(value(done.profile, f.told.constant) == f.after);
    }
}

TEST_CASE(
    "what the card's file lacks, or the model can't be moved to, keeps its value and says so") {
    micro::Report card = measured(changed);
    std::erase_if(card.rows, [](const micro::Row &r) { return r.name == "shader clock"; });
    card.rows.push_back({"v_new_f32 dependent", "cycles", 5, 5, 5, 0, "", {}});
    const auto stubborn = [](const Profile &profile, const std::vector<std::string> &names) {
        micro::Report report = model(profile, names);
        for (micro::Row &r : report.rows)
            if (r.name == "global_load_b128, stride 4")
                r.value = 4;
        return report;
    };
    const Fit done = fit(card, part(), stubborn, known());
    CHECK(of(done, "shader_mhz").why.find("no such row") != std::string::npos);
    CHECK(of(done, "l0_bytes").why.find("something else limits it") != std::string::npos);
    CHECK(of(done, "l0_bytes").after == of(done, "l0_bytes").before);
    CHECK(done.profile.constants.count("l0_bytes") == 0);
    CHECK(done.profile.facts.count("shader_mhz") == 0);
    CHECK(of(done, "l2_latency").after == doctest::Approx(301));
    CHECK(done.unknown == std::vector<std::string>{"v_new_f32 dependent"});
    CHECK(std::find(done.untold.begin(), done.untold.end(), "l2_ways") != done.untold.end());
    CHECK(std::find(done.untold.begin(), done.untold.end(), "l2_latency") == done.untold.end());
}

TEST_CASE("rows of another gfx are refused by name") {
    micro::Report card = measured({});
    card.gfx = "gfx1201";
    CHECK_THROWS_WITH_AS(fit(card, part(), model, known()), doctest::Contains("gfx1201"), Error);
}

TEST_CASE("every constant that is told exists, and no two rows tell one") {
    for (const Part &p : sim::timing::parts()) {
        std::map<std::string, u32> count;
        for (const Told &t : told(p)) {
            INFO(p.name, " ", t.constant);
            CHECK(++count[t.constant] == 1);
            const auto named = [&](const auto &f) { return f.name == t.constant; };
            const auto costs = sim::timing::cost_fields();
            const auto facts = sim::timing::part_fields();
            CHECK(std::any_of(facts.begin(), facts.end(), named) == t.of_part);
            CHECK(std::any_of(costs.begin(), costs.end(), named) == !t.of_part);
        }
    }
}
