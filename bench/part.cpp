// SPDX-License-Identifier: MIT
#include "bench/part.h"

#include <fmt/format.h>

#include "base/error.h"
#include "hip/hip.h"

namespace nw::bench {

namespace {

f64 value_of(const std::vector<Constant> &constants, std::string_view name) {
    for (const Constant &c : constants)
        if (c.name == name)
            return c.value;
    throw Error(fmt::format("'{}' is no constant of the model", name));
}

} // namespace

Bound dram_bound(std::string_view part) {
    const std::vector<Constant> constants = part_constants(part);
    return {value_of(constants, "dram_gb_per_s") * value_of(constants, "dram_efficiency"),
            value_of(constants, "launch_overhead")};
}

u32 wgps(std::string_view part) { return static_cast<u32>(value_of(part_constants(part), "wgps")); }

f64 wmma_peak(std::string_view part) {
    const std::vector<Constant> constants = part_constants(part);
    const f64 simds = 4 * value_of(constants, "wgps");
    return simds * 2 * 16 * 16 * 16 / value_of(constants, "wmma_f16_interval") *
           value_of(constants, "shader_mhz") * 1e6;
}

std::vector<Constant> part_constants(std::string_view part) {
    std::vector<Constant> out;
    const Json listed = Json::parse(hip::part_constants(part));
    for (const Json &row : listed.at("constants"))
        out.push_back({row.at("name"), row.at("section"), row.at("unit"), row.at("origin"),
                       row.at("note"), row.at("value"), row.at("lowest"), row.at("highest")});
    return out;
}

} // namespace nw::bench
