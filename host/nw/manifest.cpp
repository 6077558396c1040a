// SPDX-License-Identifier: MIT
#include "nw/manifest.h"

#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "runtime/contract.h"

namespace nw::cli {

using Json = nlohmann::json;

namespace {

u32 parameter(const ParameterName &name, const Json &value) {
    if (!name.text)
        return value.is_number() ? value.get<u32>() : static_cast<u32>(per_row);
    const u64 found = find_word(value.get<std::string>());
    if (found == no_word)
        throw Error(fmt::format("parameter {} = {}: no contract of this program has it", name.name,
                                value.dump()));
    return static_cast<u32>(found);
}

Parameters parameters(const Family &contract, const Json &params) {
    Parameters out{};
    for (const ParameterName &name : contract.parameters)
        out.*name.at = parameter(name, params.at(std::string(name.name)));
    return out;
}

} // namespace

Manifest::Manifest(const std::filesystem::path &directory) {
    const std::filesystem::path file = directory / "manifest.json";
    const auto keep = [&](const Json &value) -> std::string_view {
        return texts_.emplace_back(value.is_string() ? value.get<std::string>() : value.dump());
    };
    try {
        std::ifstream in(file);
        in.exceptions(std::ios::failbit | std::ios::badbit);
        const Json rows = Json::parse(in).at("kernels");
        for (const Json &row : rows) {
            const Family *contract = find_family(row.at("family").get<std::string>());
            if (!contract)
                throw Error(fmt::format("{}: family {}: this program has no contract of it; build "
                                        "both from one tree",
                                        file.string(), row.at("family").dump()));
            kernels_.push_back({keep(row.at("symbol")), keep(row.at("gfx")), contract->name,
                                contract, parameters(*contract, row.at("params")),
                                row.at("block").at(0), row.at("rows_per_workgroup"),
                                row.at("reference"), row.at("candidate"), true, row.at("lds_bytes"),
                                row.at("vgprs"), row.at("sgprs"), row.at("waves_per_simd")});
        }
    } catch (const std::ios::failure &) {
        throw Error(fmt::format("{}: can't be read", file.string()));
    } catch (const Json::exception &e) {
        throw Error(fmt::format("{}: {}", file.string(), e.what()));
    }
}

} // namespace nw::cli
