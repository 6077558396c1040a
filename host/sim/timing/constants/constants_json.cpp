// SPDX-License-Identifier: MIT
#include "sim/timing/constants/constants_json.h"

#include <nlohmann/json.hpp>

namespace nw::sim::timing {

namespace {

template <class Owner>
void add(std::vector<ListedConstant> &rows, const std::vector<Constant> &constants,
         std::span<const Field<Owner>> fields, bool of_part) {
    for (const Constant &c : constants)
        for (const auto &field : fields)
            if (field.name == c.name)
                rows.push_back({c, field.low, field.high, of_part});
}

nlohmann::json to_json(const ListedConstant &row) {
    const Constant &c = row.constant;
    return {{"name", c.name},
            {"section", row.of_part ? "facts" : "constants"}, // of a profile
            {"value", c.value},
            {"unit", c.unit},
            {"origin", name(c.origin)},
            {"likely_low", c.likely.low},
            {"likely_high", c.likely.high},
            {"note", c.note},
            {"lowest", row.low},
            {"highest", row.high},
            {"what", c.what}};
}

} // namespace

std::vector<ListedConstant> list_constants(const Part &part, const Costs &costs) {
    std::vector<ListedConstant> rows;
    add(rows, constants(part), part_fields(), true);
    add(rows, constants(costs, part.gfx), cost_fields(), false);
    return rows;
}

std::string constants_json(const Part &part, const std::vector<ListedConstant> &rows) {
    nlohmann::json json = {{"part", part.name}, {"gfx", part.gfx}};
    for (const ListedConstant &row : rows)
        json["constants"].push_back(to_json(row));
    return json.dump(1);
}

std::string constants_json(const Part &part, const Costs &costs) {
    return constants_json(part, list_constants(part, costs));
}

} // namespace nw::sim::timing
