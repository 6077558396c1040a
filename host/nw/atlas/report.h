// SPDX-License-Identifier: MIT
// nw atlas report: rows of the atlas, ranked by time.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::cli {

// A row of the ranking.
struct AtlasRow {
    bool suite = false, simulated = false; // else of a trace; of a card
    std::string device, gfx, part;         // device: its label; part: "" where not known
    std::string model, phase, layer, type, kernel;
    u64 m = 0, n = 0, k = 0; // 0: not known, or has none
    f64 us = 0;              // of a launch
    f64 count = 1;           // launches: of a model's layers, or in the trace
    f64 min_us = 0, max_us = 0;
    std::optional<f64> low_us, high_us; // of the draws of the model's constants
    std::optional<f64> bound_us;
    std::string bound;   // what that is
    std::string limiter; // "" where there are no facts
    std::optional<u64> vgprs, waves, scratch;
    std::optional<f64>
        other_us; // of the same launch on a card, or where this is a card on the model
    std::string note;

    f64 total_us() const { return us * count; }
    f64 gain_us() const; // of all launches at their bound; 0 where no bound is known
};

// The total that shares refer to: the linear layers of a model for a type and m on a device, or a
// trace.
struct AtlasGroup {
    std::string title;
    std::vector<AtlasRow> rows; // those with most time first

    const AtlasRow &front() const { return rows.front(); }
    f64 total_us() const;
    f64 gain_us() const;
};

// Reads files of JSON lines; if a launch is in several lines, the last one is used. Throws Error
// naming file and line.
std::vector<AtlasGroup> read_atlas(std::span<const std::string> files);
// The same from rows in memory.
std::vector<AtlasGroup> group_atlas(std::span<const nlohmann::ordered_json> rows);

std::string atlas_text(std::span<const AtlasGroup>);
std::string atlas_html(std::span<const AtlasGroup>);
nlohmann::ordered_json atlas_json(std::span<const AtlasGroup>);

} // namespace nw::cli
