// SPDX-License-Identifier: MIT
#include "sim/timing/constants/profile.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <sstream>

#include "base/error.h"

namespace nw::sim::timing {

namespace {

using Json = nlohmann::json;

constexpr std::string_view schema = "nibblewave.profile.v1";

// Edit distance (insertions, deletions, substitutions) between a and b.
size_t distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0u);
    for (size_t i = 0; i < a.size(); ++i) {
        size_t diagonal = std::exchange(row[0], i + 1);
        for (size_t j = 0; j < b.size(); ++j) {
            size_t exchanged = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({exchanged, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

template <class List> std::string_view nearest(std::string_view name, const List &list) {
    return std::min_element(list.begin(), list.end(),
                            [&](const auto &a, const auto &b) {
                                return distance(name, a.name) < distance(name, b.name);
                            })
        ->name;
}

// Location of an error in the file, for its text.
struct Place {
    std::string_view file;
    std::string key;

    Place at(std::string_view name) const {
        return {file, key.empty() ? std::string(name) : fmt::format("{}.{}", key, name)};
    }
    [[noreturn]] void fail(const std::string &what) const {
        throw Error(key.empty() ? fmt::format("{}: {}", file, what)
                                : fmt::format("{}: {}: {}", file, key, what));
    }
};

std::string text_at(const Json &object, std::string_view name, const Place &place,
                    const std::string &remedy) {
    auto it = object.find(name);
    if (it == object.end())
        place.at(name).fail("is missing; " + remedy);
    if (!it->is_string())
        place.at(name).fail(fmt::format("{} is not a string; {}", it->dump(), remedy));
    return it->template get<std::string>();
}

std::string part_names() {
    std::string list;
    for (const Part &p : parts())
        list += (list.empty() ? "" : ", ") + std::string(p.name);
    return list;
}

template <class Owner> f64 checked(const Json &json, const Field<Owner> &field, const Place &at) {
    if (!json.is_number())
        at.fail(fmt::format("{} is not a number; give one in {}", json.dump(), field.unit));
    f64 value = json.get<f64>();
    if (!(value >= field.low && value <= field.high))
        at.fail(fmt::format("{} is outside {} to {} {}; {}", json.dump(), field.low, field.high,
                            field.unit, "measure again, or leave the key out"));
    if (field.whole && value != std::floor(value))
        at.fail(
            fmt::format("{} is not an integer number of {}; round it", json.dump(), field.unit));
    if (field.unit == "line" && !std::has_single_bit(static_cast<u32>(value)))
        at.fail(fmt::format("{} is not a power of two; give the bytes as one", json.dump()));
    return value;
}

template <class Owner>
std::map<std::string, f64> values_at(const Json &root, std::string_view name,
                                     std::span<const Field<Owner>> fields, const Place &place) {
    std::map<std::string, f64> values;
    auto object = root.find(name);
    if (object == root.end())
        return values;
    Place here = place.at(name);
    if (!object->is_object())
        here.fail(fmt::format("{} is not an object; give {{\"name\": value}}", object->dump()));
    for (const auto &[key, value] : object->items()) {
        auto field = std::find_if(fields.begin(), fields.end(),
                                  [&](const auto &f) { return f.name == key; });
        if (field == fields.end())
            here.at(key).fail(fmt::format("{} has no row of this name; the nearest is {}", name,
                                          nearest(key, fields)));
        values[key] = checked(value, *field, here.at(key));
    }
    return values;
}

void check_keys(const Json &root, const Place &place) {
    if (!root.is_object())
        place.fail("a profile is a JSON object; begin with {\"schema\": ...");
    constexpr std::string_view known[] = {"schema", "part", "constants", "facts"};
    for (const auto &[key, value] : root.items())
        if (std::find(std::begin(known), std::end(known), key) == std::end(known))
            place.at(key).fail(
                "is not a key of a profile, which has schema, part, constants and facts");
}

// The profile's value in a map, if it has one.
std::optional<f64> value_in(const std::map<std::string, f64> &values, const std::string &name) {
    const auto at = values.find(name);
    return at == values.end() ? std::nullopt : std::optional(at->second);
}

// Throws if the farther of two levels in the profile does not answer later.
void check_order(const Profile &p, const Part &part, const Place &place) {
    constexpr std::pair<const char *, bool> levels[] = {// bool: of the part, in ns
                                                        {"l0_latency", false},
                                                        {"gl1_latency", false},
                                                        {"l2_latency", false},
                                                        {"mall_latency", true},
                                                        {"dram_latency", true}};
    std::string nearer;
    f64 least = 0;
    for (const auto &[name, of_part] : levels) {
        const std::optional<f64> value = value_in(of_part ? p.facts : p.constants, name);
        if (!value || (of_part && *value == 0))
            continue;
        const f64 cycles = of_part ? part.cycles_of_ns(*value) : *value;
        if (cycles < least)
            place.at(of_part ? "facts" : "constants")
                .at(name)
                .fail(fmt::format("{} {} ({:.0f} cycles) is less than {}, {:.0f} cycles: a farther "
                                  "level answers later; measure both again, or leave one out",
                                  *value, of_part ? "ns" : "cycles", cycles, nearer, least));
        nearer = name, least = cycles;
    }
}

// Throws for bandwidths beyond the part's clocks, widths and caches.
void check_bandwidths(const Profile &p, const Part &part, const Costs &costs, const Place &place) {
    const auto check = [&](const char *name, f64 low, f64 high, std::string_view why) {
        const std::optional<f64> value = value_in(p.facts, name);
        if (value && !(*value >= low && *value <= high))
            place.at("facts").at(name).fail(
                fmt::format("{} is outside {:g} to {:g} gb_per_s: {}; measure again, or leave the "
                            "key out",
                            *value, low, high, why));
    };
    constexpr f64 overclocked = 1.25; // memory of cards as they are sold, at most
    const f64 published = find_part(p.part)->dram_gb_per_s;
    check("dram_gb_per_s", 1, std::floor(published * overclocked),
          fmt::format("a {} has {:g} at its memory clock", p.part, published));
    const f64 l2 = f64{1} * costs.l2_bytes * part.l2_channels * part.shader_mhz / 1000;
    if (part.mall_size)
        check("mall_gb_per_s", 1, std::floor(l2),
              fmt::format("all channels of L2 take {:.0f}", l2));
}

// Throws for constants that no part has, whatever was measured.
void check_possible(const Profile &p, const Place &place) {
    Part part = *find_part(p.part);
    Costs costs = costs_for(part.gfx);
    apply(p, part, costs);
    check_order(p, part, place);
    check_bandwidths(p, part, costs, place);
    if (part.mall_size && part.mall_latency == 0)
        place.at("facts")
            .at("mall_latency")
            .fail("0 ns: the part has a MALL, whose latency is 1 to 10000; measure again, or leave "
                  "the key out");
}

template <class Owner>
void override(Owner &owner, std::span<const Field<Owner>> fields,
              const std::map<std::string, f64> &values) {
    for (const Field<Owner> &field : fields)
        if (auto it = values.find(std::string(field.name)); it != values.end())
            field.set(owner, it->second);
}

} // namespace

Profile parse_profile(std::string_view text, std::string_view file) {
    Place place{file, ""};
    Json root;
    try {
        root = Json::parse(text);
    } catch (const Json::exception &e) {
        place.fail(fmt::format("not JSON: {}; correct it there", e.what()));
    }
    check_keys(root, place);
    std::string remedy = fmt::format("write \"schema\": \"{}\"", schema);
    if (std::string found = text_at(root, "schema", place, remedy); found != schema)
        place.at("schema").fail(fmt::format("'{}' is an unknown schema; {}", found, remedy));
    Profile profile;
    remedy = "name one of " + part_names();
    profile.part = text_at(root, "part", place, remedy);
    if (!find_part(profile.part))
        place.at("part").fail(fmt::format("'{}' is an unknown part; {}", profile.part, remedy));
    profile.constants = values_at(root, "constants", cost_fields(), place);
    profile.facts = values_at(root, "facts", part_fields(), place);
    check_possible(profile, place);
    return profile;
}

Profile read_profile(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    if (!in || !(text << in.rdbuf()))
        throw Error(fmt::format("{}: can't be read: {}; name a file that `nw micro --fit` wrote",
                                path, errno ? std::strerror(errno) : "it is empty"));
    return parse_profile(text.str(), path);
}

void write_profile(const std::string &path, const Profile &profile) {
    nlohmann::ordered_json root{{"schema", schema}, {"part", profile.part}};
    root["constants"] = profile.constants;
    root["facts"] = profile.facts;
    std::ofstream out(path, std::ios::binary);
    out << root.dump(2) << '\n';
    out.close();
    if (!out)
        throw Error(fmt::format("{}: can't be written: {}; name a file in a writable directory",
                                path, std::strerror(errno)));
}

bool apply(const Profile &profile, Part &part, Costs &costs) {
    if (profile.part != part.name)
        return false;
    override(costs, cost_fields(), profile.constants);
    override(part, part_fields(), profile.facts);
    return true;
}

} // namespace nw::sim::timing
