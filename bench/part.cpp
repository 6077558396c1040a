// SPDX-License-Identifier: MIT
#include "bench/part.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

#include "base/targets.h"
#include "hip/hip.h"
#include "measure/clock.h"

namespace nw::bench {

namespace {

f64 value_of(const std::vector<Constant> &constants, std::string_view name) {
    for (const Constant &c : constants)
        if (c.name == name)
            return c.value;
    throw std::logic_error(fmt::format("'{}' is no constant of the model", name));
}

const Target &target_of_part(std::string_view part) {
    return target_of(Json::parse(hip::part_constants(part)).at("gfx").get<std::string>());
}

} // namespace

Bound dram_bound(std::string_view part) {
    const std::vector<Constant> constants = part_constants(part);
    const f64 bus = value_of(constants, "dram_gb_per_s");
    return {bus * value_of(constants, "dram_efficiency"), value_of(constants, "launch_overhead"),
            bus};
}

// The clock of WMMA at its full rate (T-093); of a part without WMMA its clock.
static f64 wmma_mhz(const std::vector<Constant> &constants) {
    const f64 boost = value_of(constants, "shader_mhz"), limit = value_of(constants, "wmma_mhz");
    return limit == 0 ? boost : std::min(boost, limit);
}

// FLOP/s of a part, at `macs` multiply-adds per SIMD and cycle.
static f64 flops(const std::vector<Constant> &constants, const Target &target, f64 macs) {
    const f64 simds = target.simds_per_wgp * value_of(constants, "wgps");
    return simds * 2 * macs * wmma_mhz(constants) * 1e6;
}

std::string clock_text(std::string_view part) {
    const std::vector<Constant> constants = part_constants(part);
    return nw::clock_text(value_of(constants, "shader_mhz"), value_of(constants, "wmma_mhz"));
}

Peak product_peak(std::string_view part, Dtype dtype) {
    const std::vector<Constant> constants = part_constants(part);
    const Target &target = target_of_part(part);
    if (!target.wmma.empty())
        return {"WMMA",
                flops(constants, target, 16 * 16 * 16 / value_of(constants, "wmma_f16_interval"))};
    if (target.dot2 && dtype == Dtype::f16)
        return {"DOT2", flops(constants, target, 2 * 32)};
    return {dtype == Dtype::f16 ? "v_fma_mix_f32" : "v_fmac_f32", flops(constants, target, 32)};
}

Peak gguf_peak(std::string_view part) {
    const Target &target = target_of_part(part);
    if (target.wmma.empty() && target.dot4)
        return {"DOT4", flops(part_constants(part), target, 4 * 32)};
    return product_peak(part);
}

Peak fp8_peak(std::string_view part) {
    const std::vector<Constant> constants = part_constants(part);
    return {"FP8 WMMA", flops(constants, target_of_part(part),
                              16 * 16 * 16 / value_of(constants, "wmma_iu8_interval"))};
}

std::vector<Constant> part_constants(std::string_view part) {
    return Json::parse(hip::part_constants(part)).at("constants").get<std::vector<Constant>>();
}

} // namespace nw::bench
