// SPDX-License-Identifier: MIT
#include "nw/manifest.h"

#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace nw::cli {

using Json = nlohmann::json;

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
            auto &args = args_.emplace_back();
            for (const Json &arg : row.at("args"))
                args.push_back({keep(arg.at("name")), keep(arg.at("value_kind")),
                                arg.at("offset").get<u32>(), arg.at("size").get<u32>()});
            auto &params = params_.emplace_back();
            for (const auto &[key, value] : row.at("params").items())
                params.push_back({texts_.emplace_back(key), keep(value)});
            kernels_.push_back({keep(row.at("symbol")), keep(row.at("gfx")), keep(row.at("family")),
                                params, args, row.at("kernarg_bytes"), row.at("block").at(0),
                                row.at("rows_per_workgroup"), row.at("lds_bytes"), row.at("vgprs"),
                                row.at("sgprs"), row.at("waves_per_simd"), row.at("reference"),
                                row.at("candidate")});
        }
    } catch (const std::ios::failure &) {
        throw Error(fmt::format("{}: can't be read", file.string()));
    } catch (const Json::exception &e) {
        throw Error(fmt::format("{}: {}", file.string(), e.what()));
    }
}

} // namespace nw::cli
