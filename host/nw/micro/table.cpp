// SPDX-License-Identifier: MIT
#include "nw/micro/table.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "nw/micro/chains.h"

namespace nw::cli {

namespace {

using Json = nlohmann::ordered_json;
using sim::timing::Constant;

// An instruction that no constant slows down: a wave issues one a cycle.
constexpr std::string_view one_a_cycle = "one a cycle";
std::string_view note_of_issue(const InstructionRow &row) {
    return row.unit == "SALU" ? "T-055" : "T-050";
}

Json cycles_json(const InstructionTable &table, const InstructionRow &row,
                 const MeasuredCycles &m) {
    Json out = {{"cycles", m.cycles}};
    if (!table.simulated) {
        out["evidence"] = "measured";
        return out;
    }
    Json evidence = Json::array();
    for (const std::string &name : m.constants) {
        const Constant &c = *table.constant(name);
        evidence.push_back({{"constant", name},
                            {"value", c.value},
                            {"origin", sim::timing::name(c.origin)},
                            {"note", c.note}});
    }
    if (evidence.empty())
        evidence.push_back(
            {{"rule", one_a_cycle}, {"origin", "fact"}, {"note", note_of_issue(row)}});
    out["evidence"] = std::move(evidence);
    return out;
}

Json row_json(const InstructionTable &table, const InstructionRow &row) {
    Json out = {{"mnemonic", row.mnemonic}, {"unit", row.unit}};
    if (!row.why_not.empty()) {
        out["not_measured"] = row.why_not;
        return out;
    }
    out["line"] = row.line;
    out["throughput"] = cycles_json(table, row, row.throughput);
    out["throughput"]["copies"] = row.copies;
    if (row.latency) {
        out["latency"] = cycles_json(table, row, *row.latency);
        out["latency"]["chain"] = row.chain;
    }
    for (size_t n = 0; n < companions; ++n)
        out["in_turn_with"].push_back({{"unit", table.beside[n].unit},
                                       {"cycles", row.pairs[n]},
                                       {"collides", table.collides(row, n)}});
    if (!row.remark.empty())
        out["remark"] = row.remark;
    return out;
}

template <class... A> void add(std::string &text, fmt::format_string<A...> format, A &&...args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<A>(args)...);
}

} // namespace

bool InstructionTable::collides(const InstructionRow &row, size_t companion) const {
    const Company c = company(row.throughput.cycles, beside[companion].alone, row.pairs[companion]);
    return c == Company::collide || c == Company::hinder;
}

const Constant *InstructionTable::constant(std::string_view name) const {
    const auto at = std::ranges::find(constants, name, &Constant::name);
    return at == constants.end() ? nullptr : &*at;
}

std::string InstructionTable::evidence(const InstructionRow &row, const MeasuredCycles &m) const {
    if (!simulated)
        return "measured";
    const Constant *weakest = nullptr;
    for (const std::string &name : m.constants)
        if (const Constant *c = constant(name); !weakest || c->origin > weakest->origin)
            weakest = c;
    return weakest ? fmt::format("{} {}", weakest->note, sim::timing::name(weakest->origin))
                   : fmt::format("{} fact", note_of_issue(row));
}

std::string table_text(const InstructionTable &table) {
    std::string text;
    add(text, "Instructions of {}: cycles of a wave alone{}\n", table.device,
        table.simulated ? "; modelled (sim), not measured on a card" : "");
    add(text,
        "In turn with one of each unit, *: they collide; 2 cycles are what issuing two takes.\n"
        "Evidence: of latency/throughput\n\n");
    add(text, "{:<29} {:<5} {:>7} {:>7} {:>6}  {:>6}  {:>6}   evidence\n", "", "unit", "latency",
        "through", table.beside[0].unit, table.beside[1].unit, table.beside[2].unit);
    std::map<std::string, u64> left_out;
    for (const InstructionRow &row : table.rows) {
        if (!row.why_not.empty()) {
            ++left_out[row.why_not];
            continue;
        }
        add(text, "{:<29} {:<5} {:>7} {:>7.2f}", row.mnemonic, row.unit,
            row.latency ? fmt::format("{:.2f}", row.latency->cycles) : "-", row.throughput.cycles);
        for (size_t n = 0; n < companions; ++n)
            add(text, " {:>6.2f}{}", row.pairs[n], table.collides(row, n) ? "*" : " ");
        const std::string of_throughput = table.evidence(row, row.throughput);
        add(text, "  {}/{}\n", row.latency ? table.evidence(row, *row.latency) : "-",
            of_throughput);
    }
    for (const auto &[why, count] : left_out)
        add(text, "{}not measured: {:>4}  {}\n", &why == &left_out.begin()->first ? "\n" : "",
            count, why);
    if (!table.constants.empty())
        add(text, "\nConstants that these numbers come from; nw constants explains them\n");
    for (const Constant &c : table.constants)
        add(text, "{:<24} {:>5g} cycles  {:<5} {}\n", c.name, c.value, sim::timing::name(c.origin),
            c.note);
    return text;
}

Json table_json(const InstructionTable &table) {
    Json out = {{"schema", "nibblewave.instructions.v1"},
                {"device", table.device},
                {"gfx", table.gfx},
                {"simulated", table.simulated}};
    if (!table.part.empty())
        out["part"] = table.part;
    for (const Companion &c : table.beside)
        out["companions"].push_back({{"unit", c.unit}, {"line", c.line}, {"cycles", c.alone}});
    for (const InstructionRow &row : table.rows)
        out["instructions"].push_back(row_json(table, row));
    for (const Constant &c : table.constants)
        out["constants"].push_back({{"name", c.name},
                                    {"value", c.value},
                                    {"unit", c.unit},
                                    {"origin", sim::timing::name(c.origin)},
                                    {"likely_low", c.likely.low},
                                    {"likely_high", c.likely.high},
                                    {"note", c.note},
                                    {"what", c.what}});
    return out;
}

} // namespace nw::cli
