// SPDX-License-Identifier: MIT
#include "sim/timing/profile.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
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
