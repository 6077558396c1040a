// SPDX-License-Identifier: MIT
// What the model of time takes a part to be, as `nw constants` says it: benches don't link the
// simulator.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/types.h"

namespace nw::bench {

struct Constant {
    std::string name, section, unit, origin, note;
    f64 value, lowest, highest;
};

// All constants of a part ("8060S") or of the default part of a gfx.
std::vector<Constant> part_constants(std::string_view part);

// Throws Error where there is no such constant.
f64 value_of(const std::vector<Constant> &, std::string_view name);

// FLOP/s of WMMA in f16 and bf16, by the part's clock and units and the cycles of an instruction.
f64 wmma_peak(std::string_view part);

// The folder of this program, where nw is too.
std::filesystem::path programs();
// For a shell.
std::string quoted(const std::string &);
// Runs a shell command that writes JSON to `result`.
nlohmann::json run_json(const std::string &command, const std::filesystem::path &result);

} // namespace nw::bench
