// SPDX-License-Identifier: MIT
#include "bench/part.h"

#include <fmt/format.h>
#include <stdexcept>

#include "hip/hip.h"

namespace nw::bench {

namespace {

f64 value_of(const std::vector<Constant> &constants, std::string_view name) {
    for (const Constant &c : constants)
        if (c.name == name)
            return c.value;
    throw std::logic_error(fmt::format("'{}' is no constant of the model", name));
}

} // namespace

Bound dram_bound(std::string_view part) {
    const std::vector<Constant> constants = part_constants(part);
    const f64 bus = value_of(constants, "dram_gb_per_s");
    return {bus * value_of(constants, "dram_efficiency"), value_of(constants, "launch_overhead"),
            bus};
}

f64 wmma_peak(std::string_view part) {
    const std::vector<Constant> constants = part_constants(part);
    const f64 simds = 4 * value_of(constants, "wgps");
    return simds * 2 * 16 * 16 * 16 / value_of(constants, "wmma_f16_interval") *
           value_of(constants, "shader_mhz") * 1e6;
}

std::vector<Constant> part_constants(std::string_view part) {
    return Json::parse(hip::part_constants(part)).at("constants").get<std::vector<Constant>>();
}

} // namespace nw::bench
