// SPDX-License-Identifier: MIT
// The constants of the timing model as data, and HIPSIM_PROFILE, which replaces them.
#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <unistd.h>

#include "base/error.h"
#include "sim/func/machine.h"
#include "sim/timing/constants/constants_json.h"
#include "sim/timing/constants/profile.h"
#include "sim/timing/core/dispatcher.h"

using namespace nw;
using namespace nw::sim::timing;

namespace {

// nw::Error's text, or "" if nothing was thrown.
std::string error_of(auto &&run) {
    try {
        run();
    } catch (const Error &e) {
        return e.what();
    }
    return "";
}

std::string error_in(std::string_view json) {
    return error_of([&] { parse_profile(json, "card.json"); });
}

std::string with(std::string_view values) {
    return fmt::format(R"({{"schema": "nibblewave.profile.v1", "part": "8060S", {}}})", values);
}

std::string temporary(std::string_view name) {
    return (std::filesystem::temp_directory_path() / fmt::format("{}.{}", name, getpid())).string();
}

void check_rows(const std::vector<Constant> &rows, const std::string &notes) {
    std::set<std::string_view> names;
    for (const Constant &row : rows) {
        INFO(row.name);
        CHECK(names.insert(row.name).second);
        CHECK(notes.find(std::string(row.note) + "-") != notes.npos);
        CHECK(row.what.size() > 5);
        CHECK(!name(row.origin).empty());
    }
}

template <class Owner> void check_ranges(const Owner &owner, std::span<const Field<Owner>> fields) {
    for (const Field<Owner> &field : fields) {
        INFO(field.name, " = ", field.get(owner));
        CHECK(field.low < field.high);
        CHECK(field.get(owner) >= field.low);
        CHECK(field.get(owner) <= field.high);
    }
}

} // namespace

TEST_CASE("every constant has its own name, a note, and a value within its legal range") {
    std::string notes;
    for (const auto &entry : std::filesystem::directory_iterator(NW_SOURCE_DIR "/isa_notes"))
        notes += entry.path().filename().string() + "\n";
    for (const Part &part : parts()) {
        INFO(part.name);
        Costs costs = costs_for(part.gfx);
        std::vector<Constant> rows = constants(costs, part.gfx);
        for (const Constant &fact : constants(part))
            rows.push_back(fact);
        check_rows(rows, notes);
        check_ranges(costs, cost_fields());
        check_ranges(part, part_fields());
    }
}

// A constant that can have only one value by a unit's rule, such as the hash, may have a range of
// one value.
bool may_be_certain(const Constant &row) { return row.unit == "kind" || row.unit == "line"; }

TEST_CASE("what is fitted or guessed has a likely range, what is published has none") {
    for (const Part &part : parts()) {
        std::vector<Constant> rows = constants(costs_for(part.gfx), part.gfx);
        for (const Constant &fact : constants(part))
            rows.push_back(fact);
        for (const Constant &row : rows) {
            INFO(part.name, " ", row.name, " = ", row.value);
            CHECK(row.likely.contains(row.value));
            if (row.origin == Origin::fact)
                CHECK(row.likely == Range{row.value, row.value});
            else if (!may_be_certain(row))
                CHECK(row.likely.low < row.likely.high);
        }
    }
}

TEST_CASE("a likely range is within the legal one, and a measured value is certain") {
    const Part &part = *find_part("8060S");
    Costs costs = costs_for(part.gfx);
    for (const ListedConstant &row : list_constants(part, costs)) {
        INFO(row.constant.name);
        CHECK(row.constant.likely.low >= row.low);
        CHECK(row.constant.likely.high <= row.high);
    }
    costs.l2_latency += 1;
    for (const Constant &row : constants(costs, part.gfx))
        if (row.name == "l2_latency")
            CHECK(row.likely == Range{row.value, row.value});
}

TEST_CASE("at most 15 constants are fitted") {
    std::set<std::string_view> fitted;
    for (const Constant &row : constants(costs_for("gfx1151"), "gfx1151"))
        if (row.origin == Origin::fit)
            fitted.insert(row.name);
    for (const Part &part : parts())
        for (const Constant &fact : constants(part))
            if (fact.origin == Origin::fit)
                fitted.insert(fact.name);
    CHECK(fitted.size() <= 15);
}

TEST_CASE("arrays of the model are as large as the facts of the targets say") {
    for (const Target &target : targets()) {
        INFO(target.name);
        CHECK(target.simds_per_wgp == simds_per_wgp);
        CHECK(target.max_waves <= waves_per_simd_limit);
    }
}

TEST_CASE("every simulated device has a default part, with its compute units and L2") {
    for (const sim::Device &device : sim::devices()) {
        INFO(device.gfx);
        const Part *part = default_part(device.gfx);
        REQUIRE(part);
        CHECK(part->wgps == device.wgps);
        CHECK(part->l2_size == device.l2_bytes);
        CHECK(part->shader_mhz * 1000 == device.clock_khz);
        CHECK(find_part(part->name) == part);
        CHECK_NOTHROW(costs_for(device.gfx));
    }
    CHECK(default_part("gfx1201")->name == "9070 XT");
    CHECK(find_part("R9700")->gfx == "gfx1201");
    CHECK(find_part("R9800") == nullptr);
    CHECK(default_part("gfx906") == nullptr);
    CHECK(error_of([] { costs_for("gfx906"); }).starts_with("gfx906: costs.inc has no column"));
}

TEST_CASE("columns are architectures: gfx12 has no GL1, MALL is where the part has it") {
    CHECK(find_part("9070 XT")->gl1_size == 0);
    CHECK(find_part("7900 XTX")->gl1_size == 256 << 10);
    CHECK(find_part("890M")->mall_size == 0);
    CHECK(find_part("8060S")->mall_size == 32 << 20);
    for (const Part &part : parts())
        CHECK((part.mall_size > 0) == (part.mall_gb_per_s > 0));
}

TEST_CASE("a profile overrides what it names, of its part only") {
    Profile profile = parse_profile(with(R"("constants": {"l2_latency": 301},
        "facts": {"dram_efficiency": 0.875, "shader_mhz": 2800})"),
                                    "card.json");
    Part part = *find_part("8060S");
    Costs costs = costs_for(part.gfx), before = costs;
    CHECK(apply(profile, part, costs));
    CHECK(costs.l2_latency == 301);
    CHECK(part.dram_efficiency == 0.875);
    CHECK(part.shader_mhz == 2800);
    costs.l2_latency = before.l2_latency;
    CHECK(costs == before); // and nothing else

    Part other = *find_part("890M");
    Costs others = costs_for(other.gfx), same = others;
    CHECK(!apply(profile, other, others));
    CHECK(others == same);
    CHECK(other == *find_part("890M"));
}

TEST_CASE("a profile that is written is read again as it was") {
    Profile profile{"9070 XT", {{"l0_latency", 91}, {"l2_bytes", 64}}, {{"dram_latency", 251.25}}};
    std::string path = temporary("nw_profile");
    write_profile(path, profile);
    CHECK(read_profile(path) == profile);
    write_profile(path, Profile{"7600", {}, {}});
    CHECK(read_profile(path) == Profile{"7600", {}, {}});
    std::remove(path.c_str());
}

TEST_CASE("an unknown name is an error with the nearest one") {
    CHECK(error_in(with(R"("constants": {"l2_latncy": 7})")) ==
          "card.json: constants.l2_latncy: constants has no row of this name; the nearest is "
          "l2_latency");
    CHECK(error_in(with(R"("facts": {"shader_hz": 7})")) ==
          "card.json: facts.shader_hz: facts has no row of this name; the nearest is shader_mhz");
    CHECK(error_in(with(R"("facts": {"l2_latency": 7})"))
              .starts_with("card.json: facts.l2_latency:"));
    CHECK(
        error_in(with(R"("costs": {})")) ==
        "card.json: costs: is not a key of a profile, which has schema, part, constants and facts");
}

TEST_CASE("an absurd value is an error with the rule") {
    CHECK(
        error_in(with(R"("constants": {"l2_latency": -3})")) ==
        "card.json: constants.l2_latency: -3 is outside 1 to 10000 cycles; measure again, or leave "
        "the key out");
    for (const char *bad : {"0", "1e9", "10001"})
        CHECK(error_in(with(fmt::format(R"("constants": {{"l2_latency": {}}})", bad))) != "");
    CHECK(error_in(with(R"("constants": {"l2_latency": 7.5})")) ==
          "card.json: constants.l2_latency: 7.5 is not an integer number of cycles; round it");
    CHECK(error_in(with(R"("constants": {"l2_latency": "7"})")) ==
          "card.json: constants.l2_latency: \"7\" is not a number; give one in cycles");
    for (const char *bad : {"null", "true", "[7]", "{}"})
        CHECK(error_in(with(fmt::format(R"("constants": {{"l2_latency": {}}})", bad))) != "");
    CHECK(error_in(with(R"("facts": {"dram_interleave": 384})")) ==
          "card.json: facts.dram_interleave: 384 is not a power of two; give the bytes as one");
    CHECK(error_in(with(R"("facts": {"dram_efficiency": 1.01})")) != "");
    CHECK(error_in(with(R"("facts": [1])")) ==
          "card.json: facts: [1] is not an object; give {\"name\": value}");
}

TEST_CASE("impossible constants are refused with the range and the remedy") {
    for (const std::string_view latency :
         {"l0_latency", "gl1_latency", "l2_latency", "scalar_latency", "store_latency",
          "lds_latency", "valu_latency", "wave_start"})
        CHECK(
            error_in(with(fmt::format(R"("constants": {{"{}": 0}})", latency)))
                .starts_with(fmt::format("card.json: constants.{}: 0 is outside 1 to ", latency)));
    CHECK(
        error_in(with(R"("facts": {"dram_latency": 0})")) ==
        "card.json: facts.dram_latency: 0 is outside 10 to 100000 ns; measure again, or leave the "
        "key out");
    CHECK(error_in(with(R"("facts": {"mall_latency": 0})")) ==
          "card.json: facts.mall_latency: 0 ns: the part has a MALL, whose latency is 1 to 10000; "
          "measure again, or leave the key out");
    CHECK(
        error_in(with(R"("facts": {"dram_gb_per_s": 321})")) ==
        "card.json: facts.dram_gb_per_s: 321 is outside 1 to 320 gb_per_s: a 8060S has 256 at its "
        "memory clock; measure again, or leave the key out");
    CHECK(error_in(with(R"("facts": {"dram_gb_per_s": 250})")) == "");
    CHECK(error_in(with(R"("facts": {"mall_gb_per_s": 3000})")) ==
          "card.json: facts.mall_gb_per_s: 3000 is outside 1 to 2969 gb_per_s: all channels of L2 "
          "take 2970; measure again, or leave the key out");
    CHECK(error_in(with(R"("facts": {"mall_gb_per_s": 0})")) != "");
    // Half the channels take half.
    CHECK(error_in(with(R"("facts": {"mall_gb_per_s": 1500, "l2_channels": 4})")) != "");
    CHECK(error_in(with(R"("constants": {"l2_latency": 150, "gl1_latency": 200})")) ==
          "card.json: constants.l2_latency: 150 cycles (150 cycles) is less than gl1_latency, 200 "
          "cycles: a farther level answers later; measure both again, or leave one out");
    CHECK(error_in(with(R"("constants": {"l2_latency": 300}, "facts": {"dram_latency": 100})")) ==
          "card.json: facts.dram_latency: 100 ns (290 cycles) is less than l2_latency, 300 cycles: "
          "a farther level answers later; measure both again, or leave one out");
    // A constant that the profile omits is a guess, which doesn't refuse a measurement.
    CHECK(error_in(with(R"("constants": {"l2_latency": 600})")) == "");
}

TEST_CASE("a profile says what it is and whose") {
    CHECK(error_in("{}").starts_with("card.json: schema: is missing; write \"schema\": \"nibble"));
    CHECK(error_in(R"({"schema": "nibblewave.profile.v2", "part": "8060S"})")
              .starts_with("card.json: schema: 'nibblewave.profile.v2' is an unknown schema"));
    std::string v1 = R"({"schema": "nibblewave.profile.v1")";
    CHECK(error_in(v1 + "}").starts_with("card.json: part: is missing; name one of 7900 XTX, "));
    CHECK(error_in(v1 + R"(, "part": "8060"})")
              .starts_with("card.json: part: '8060' is an unknown part; name one of "));
    CHECK(error_in(v1 + R"(, "part": 8060})").starts_with("card.json: part: 8060 is not a string"));
    CHECK(error_in("[]").starts_with("card.json: a profile is a JSON object"));
    CHECK(error_in(v1).starts_with("card.json: not JSON: "));
    CHECK(error_in("").starts_with("card.json: not JSON: "));
}

TEST_CASE("files that can't be read or written are named") {
    std::string missing = temporary("nw_no_such_folder") + "/card.json";
    CHECK(error_of([&] {
              read_profile(missing);
          }).starts_with(missing + ": can't be read: No such file or directory"));
    CHECK(error_of([&] {
              write_profile(missing, Profile{"7600", {}, {}});
          }).starts_with(missing + ": can't be written: No such file or directory"));
    CHECK(error_of([&] { read_profile("/"); }).starts_with("/: can't be read: "));
}
