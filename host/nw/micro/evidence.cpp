// SPDX-License-Identifier: MIT
#include "nw/micro/evidence.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/parallel.h"
#include "base/temporary_folder.h"
#include "nw/micro/chains.h"
#include "sim/timing/constants/constants_json.h"
#include "sim/timing/constants/profile.h"

namespace nw::cli {

namespace {

using sim::timing::ListedConstant, sim::timing::Part;

constexpr f64 least_change = 0.01; // of a slope, in cycles

std::string with_setting(const std::string &spec, const std::string &setting) {
    return fmt::format("{}{}{}", spec, spec.find('?') == spec.npos ? '?' : '&', setting);
}

// The part that the device's label names, else the default one of the gfx.
const Part &part_of(const hip::DeviceInfo &device) {
    const Part *part = sim::timing::default_part(device.gfx);
    for (const Part &named : sim::timing::parts())
        if (named.gfx == device.gfx && device.label.find(named.name) != std::string::npos)
            part = &named;
    if (!part)
        throw Error(fmt::format("{}: no part has its gfx", device.gfx));
    return *part;
}

// ALUs' constants in cycles; what a wave alone without memory can meet (notes of core_costs.inc).
bool may_decide(const ListedConstant &listed) {
    constexpr std::string_view notes[] = {"T-050", "T-051", "T-053", "T-054", "T-055"};
    return !listed.of_part && listed.constant.unit == "cycles" &&
           std::ranges::find(notes, listed.constant.note) != std::end(notes);
}

f64 changed(const ListedConstant &c) {
    const f64 value = c.constant.value;
    return std::min(c.high, value + std::max(3.0, std::floor(value / 2)));
}

// Instructions whose facts of cost come from the same constants and whose numbers are equal are of
// one kind.
using Kind = std::tuple<std::string, std::string, i64, i64>;

Kind kind_of(const InstructionRow &row) {
    const auto hundredths = [](f64 cycles) { return std::llround(100 * cycles); };
    return {row.unit, row.costs, hundredths(row.throughput.cycles),
            row.latency ? hundredths(row.latency->cycles) : -1};
}

// The first instruction of each kind.
std::vector<const InstructionRow *> representatives(const InstructionTable &table) {
    std::map<Kind, const InstructionRow *> of_kind;
    for (const InstructionRow &row : table.rows)
        if (row.why_not.empty())
            of_kind.emplace(kind_of(row), &row);
    std::vector<const InstructionRow *> out;
    for (const auto &[kind, row] : of_kind)
        out.push_back(row);
    return out;
}

// Two chains of each: for throughput, for latency.
std::vector<Chain> chains_of(const std::vector<const InstructionRow *> &rows) {
    std::vector<Chain> chains;
    for (const InstructionRow *row : rows) {
        chains.push_back(independent(Line(row->line)));
        chains.push_back(dependent(row->latency ? row->chain : row->line));
    }
    return chains;
}

} // namespace

void add_evidence(InstructionTable &table, const hip::DeviceInfo &info) {
    if (const char *variable = std::getenv("HIPSIM_PROFILE");
        info.spec.find("profile=") != info.spec.npos || (variable && *variable))
        throw Error("--all: its evidence is of the model's own constants: leave out the profile");
    const Part &part = part_of(info);
    table.part = part.name;
    std::vector<ListedConstant> constants =
        sim::timing::list_constants(part, sim::timing::costs_for(part.gfx));
    std::erase_if(constants, [](const ListedConstant &c) { return !may_decide(c); });

    const auto rows = representatives(table);
    const std::vector<Chain> chains = chains_of(rows);
    const std::string object = chains_object(target_of(info.gfx), chains);
    const auto times = [&](const std::string &spec) {
        return run_chains(hip::Device::own(spec, "timing=on"), object, chains.size());
    };
    const std::vector<f64> usual = times(info.spec);
    const TemporaryFolder folder("profiles");
    std::vector<std::vector<f64>> others(constants.size());
    parallel_each(constants.size(), [&] {
        return [&](u64 n) {
            const sim::timing::Constant &c = constants[n].constant;
            const std::string path = folder.file(fmt::format("{}.json", c.name));
            sim::timing::write_profile(
                path, {std::string(part.name), {{std::string(c.name), changed(constants[n])}}, {}});
            others[n] = times(with_setting(info.spec, "profile=" + path));
        };
    });

    std::map<Kind, std::pair<std::vector<std::string>, std::vector<std::string>>> deciding;
    for (size_t n = 0; n < constants.size(); ++n) {
        bool any = false;
        for (size_t r = 0; r < rows.size(); ++r) {
            auto &[throughput, latency] = deciding[kind_of(*rows[r])];
            const auto changes = [&](size_t chain) {
                return std::abs(others[n][chain] - usual[chain]) > least_change;
            };
            const std::string name(constants[n].constant.name);
            if (changes(2 * r))
                throughput.push_back(name), any = true;
            if (rows[r]->latency && changes(2 * r + 1))
                latency.push_back(name), any = true;
        }
        if (any)
            table.constants.push_back(constants[n].constant);
    }
    for (InstructionRow &row : table.rows)
        if (const auto at = deciding.find(kind_of(row)); row.why_not.empty()) {
            row.throughput.constants = at->second.first;
            if (row.latency)
                row.latency->constants = at->second.second;
        }
}

} // namespace nw::cli
