// SPDX-License-Identifier: MIT
#include "bench/part.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>

#include "base/error.h"
#include "bench/temporary_folder.h"

namespace nw::bench {

namespace fs = std::filesystem;

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

fs::path programs() { return fs::read_symlink("/proc/self/exe").parent_path(); }

std::string quoted(const std::string &text) {
    std::string out = "'";
    for (char c : text)
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

Json run_json(const std::string &command, const fs::path &result) {
    if (std::system(command.c_str()) != 0)
        throw Error(fmt::format("failed: {}", command));
    std::ifstream file(result);
    return Json::parse(file);
}

std::vector<Constant> part_constants(std::string_view part) {
    const TemporaryFolder folder;
    const fs::path out = folder.path() / "constants.json";
    const std::string command =
        fmt::format("{} constants --json --part {} > {}", quoted(programs() / "nw"),
                    quoted(std::string(part)), quoted(out));
    std::vector<Constant> constants;
    const Json listed = run_json(command, out);
    for (const auto &row : listed.at("constants"))
        constants.push_back({row.at("name"), row.at("section"), row.at("unit"), row.at("origin"),
                             row.at("note"), row.at("value"), row.at("lowest"), row.at("highest")});
    return constants;
}

} // namespace nw::bench
