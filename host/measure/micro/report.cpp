// SPDX-License-Identifier: MIT
#include "measure/micro/report.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace nw::micro {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char *schema = "nibblewave.micro.v1";

Json to_json(const Row &row) {
    Json clocks = Json::object();
    for (const auto &[steps, passes] : row.clocks)
        clocks[std::to_string(steps)] = passes;
    return {{"name", row.name}, {"unit", row.unit},     {"value", row.value}, {"low", row.low},
            {"high", row.high}, {"offset", row.offset}, {"from", row.from},   {"clocks", clocks}};
}

Row to_row(const Json &json) {
    Row row;
    row.name = json.at("name");
    row.unit = json.at("unit");
    row.value = json.at("value");
    row.low = json.at("low");
    row.high = json.at("high");
    row.offset = json.at("offset");
    row.from = json.at("from");
    for (const auto &[steps, passes] : json.at("clocks").items())
        row.clocks[static_cast<u32>(std::stoul(steps))] = passes.get<std::vector<u32>>();
    if (!std::isfinite(row.value))
        throw Error(fmt::format("row \"{}\": its value is no number", row.name));
    return row;
}

} // namespace

const Row *Report::find(std::string_view name) const {
    for (const Row &row : rows)
        if (row.name == name)
            return &row;
    return nullptr;
}

void write_report(const std::string &path, const Report &report) {
    Json rows = Json::array();
    for (const Row &row : report.rows)
        rows.push_back(to_json(row));
    const Json json = {{"schema", schema},      {"device", report.device},
                       {"gfx", report.gfx},     {"simulated", report.simulated},
                       {"bytes", report.bytes}, {"rows", rows}};
    std::ofstream file(path);
    file << json.dump(1) << '\n';
    if (!file.flush())
        throw Error(fmt::format("{}: can't be written ({})", path, std::strerror(errno)));
}

Report read_report(const std::string &path) {
    std::ifstream file(path);
    if (!file)
        throw Error(fmt::format("{}: can't be read ({})", path, std::strerror(errno)));
    try {
        const Json json = Json::parse(file);
        if (const std::string is = json.value("schema", ""); is != schema)
            throw Error(fmt::format("its schema is \"{}\", not {}; nw micro --json writes that", is,
                                    schema));
        Report report{
            json.at("device"), json.at("gfx"), json.at("simulated"), json.at("bytes"), {}};
        for (const Json &row : json.at("rows"))
            report.rows.push_back(to_row(row));
        return report;
    } catch (const std::exception &error) {
        throw Error(fmt::format("{}: {}", path, error.what()));
    }
}

} // namespace nw::micro
