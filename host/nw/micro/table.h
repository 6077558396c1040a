// SPDX-License-Identifier: MIT
// The instructions of a target with their latency and throughput, and what each number comes from.
#pragma once
#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "sim/timing/constants/constant.h"

namespace nw::cli {

// Cycles, and the constants of the model that they depend on: by name, none of a card.
struct MeasuredCycles {
    f64 cycles = 0;
    std::vector<std::string> constants;
};

// Each instruction is measured in turn with one of each unit.
inline constexpr size_t companions = 3;
struct Companion {
    std::string_view unit, line;
    f64 alone = 0;
};

struct InstructionRow {
    std::string mnemonic, unit; // unit: that executes it, by the model
    std::string costs;          // names of the constants that its facts of cost are made from
    std::string line, chain;    // independent copies of the line; the dependent chain, or ""
    u32 copies = 0;
    MeasuredCycles throughput;
    std::optional<MeasuredCycles> latency; // of what has a chain
    std::array<f64, companions> pairs{};   // the line and a companion, alternating
    std::string remark;
    std::string why_not; // it isn't measured; then there is nothing but the names
};

struct InstructionTable {
    std::string device, gfx, part; // device: label
    bool simulated = false;
    std::array<Companion, companions> beside;
    std::vector<InstructionRow> rows;
    std::vector<sim::timing::Constant> constants; // that any number depends on

    // Whether the pair takes longer than the longer of the two alone.
    bool collides(const InstructionRow &, size_t companion) const;
    const sim::timing::Constant *constant(std::string_view name) const; // null: not in the list
    // The note and the weakest origin of what a number comes from: "T-053 guess", "measured".
    std::string evidence(const InstructionRow &, const MeasuredCycles &) const;
};

std::string table_text(const InstructionTable &);
nlohmann::ordered_json table_json(const InstructionTable &);
std::string table_html(const InstructionTable &);

} // namespace nw::cli
