// SPDX-License-Identifier: MIT
#include "nw/lint/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace nw::cli {

using Json = nlohmann::ordered_json;

namespace {

Json place_json(const LintPlace &p) {
    return {
        {"file", p.file}, {"line", p.line}, {"offset", p.offset}, {"instruction", p.instruction}};
}

Json location(const LintPlace &p, const std::string &otherwise) {
    Json out = {{"physicalLocation",
                 {{"artifactLocation", {{"uri", p.file.empty() ? otherwise : p.file}}}}},
                {"message", {{"text", p.instruction}}}};
    if (p.line)
        out["physicalLocation"]["region"] = {{"startLine", p.line}};
    return out;
}

} // namespace

std::string LintPlace::text() const {
    return line ? fmt::format("{}:{}", file, line) : fmt::format("kernel + 0x{:x}", offset);
}

std::string lint_text(const LintFile &file) {
    std::string out;
    for (const LintRow &r : file.rows) {
        const lint::RuleInfo &rule = lint::info(r.rule);
        const std::string where =
            r.place.line ? r.place.text() : fmt::format("{}: {}", file.path, r.place.text());
        out += fmt::format("{}: {} {}: {}\n    {}   [{}, {}]\n", where, name(rule.severity),
                           rule.id, r.text, r.place.instruction, r.kernel, file.gfx);
        if (r.has_other)
            out += fmt::format("    after {}: {}\n", r.other.text(), r.other.instruction);
        out += fmt::format("    fix: {}\n", r.remedy);
    }
    return out;
}

Json lint_json(const std::vector<LintFile> &files) {
    Json out = Json::array();
    for (const LintFile &file : files) {
        Json rows = Json::array();
        for (const LintRow &r : file.rows) {
            const lint::RuleInfo &rule = lint::info(r.rule);
            Json row = {{"rule", rule.id},
                        {"severity", name(rule.severity)},
                        {"kernel", r.kernel},
                        {"text", r.text}};
            row.update(place_json(r.place));
            if (r.has_other)
                row["other"] = place_json(r.other);
            row["fix"] = r.remedy;
            rows.push_back(row);
        }
        out.push_back({{"path", file.path},
                       {"gfx", file.gfx},
                       {"kernels", file.kernels},
                       {"suppressed", file.suppressed},
                       {"findings", rows}});
    }
    return out;
}

Json lint_sarif(const std::vector<LintFile> &files) {
    Json rules = Json::array(), results = Json::array();
    for (const lint::RuleInfo &rule : lint::all_rules())
        rules.push_back({{"id", rule.id},
                         {"shortDescription", {{"text", rule.title}}},
                         {"defaultConfiguration", {{"level", name(rule.severity)}}}});
    for (const LintFile &file : files)
        for (const LintRow &r : file.rows) {
            const lint::RuleInfo &rule = lint::info(r.rule);
            Json row = {
                {"ruleId", rule.id},
                {"level", name(rule.severity)},
                {"message",
                 {{"text", fmt::format("{} ({}, {}); {}", r.text, r.kernel, file.gfx, r.remedy)}}},
                {"locations", {location(r.place, file.path)}}};
            if (r.has_other)
                row["relatedLocations"] = {location(r.other, file.path)};
            results.push_back(row);
        }
    return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs",
             {{{"tool", {{"driver", {{"name", "nw lint"}, {"rules", rules}}}}},
               {"results", results}}}}};
}

} // namespace nw::cli
