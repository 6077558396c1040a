// SPDX-License-Identifier: MIT
// Findings as JSON, SARIF 2.1.0 and JUnit's XML.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "nw/check/check.h"

namespace nw::cli {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

Json frames_json(const std::vector<SourceFrame> &frames) {
    Json out = Json::array();
    for (const SourceFrame &f : frames)
        out.push_back(
            {{"function", f.function}, {"file", f.file}, {"line", f.line}, {"column", f.column}});
    return out;
}

Json place_json(const CheckPlace &p) {
    return {{"place", p.place},
            {"instruction", p.instruction},
            {"frames", frames_json(p.frames)},
            {"block", p.workgroup},
            {"wave", p.wave}};
}

Json finding_json(const CheckFinding &f) {
    Json out = {{"check", f.check}, {"rule", f.rule}, {"title", f.title}, {"message", f.message}};
    out["kernel"] = f.kernel;
    out.update(place_json(f.at));
    out["thread"] = f.thread.empty() ? Json() : Json(f.thread);
    out["lane"] = f.lane < 0 ? Json() : Json(f.lane);
    out["address"] = f.address.empty() ? Json() : Json(f.address);
    out["allocation"] = f.allocation;
    out["other"] = f.other ? place_json(*f.other) : Json();
    out["count"] = f.count;
    out["launch_was_ended"] = f.ended;
    out["launches"] = f.launches;
    out["first_launch"] = f.first_launch;
    out["grid_size"] = f.grid;
    out["block_size"] = f.block;
    out["gfx"] = f.gfx;
    out["launched_by"] = frames_json(f.launched);
    out["allocated_by"] = frames_json(f.made);
    out["program"] = f.program;
    out["process"] = f.process;
    return out;
}

// Relative to the working directory, as code scanning shows it.
std::string uri_of(const std::string &file) {
    const fs::path path = fs::path(file).lexically_normal();
    const fs::path relative = path.lexically_relative(fs::current_path());
    return relative.empty() || *relative.begin() == ".." ? path.string() : relative.string();
}

Json location(const CheckPlace &p) {
    Json out = {{"message", {{"text", p.instruction.empty() ? p.place : p.instruction}}},
                {"logicalLocations", {{{"fullyQualifiedName", p.place}}}}};
    if (!p.frames.empty())
        out["physicalLocation"] = {{"artifactLocation", {{"uri", uri_of(p.frames[0].file)}}},
                                   {"region", {{"startLine", p.frames[0].line}}}};
    return out;
}

// A leak's is the innermost known line of the host program; HIP's headers have wrappers.
Json location(const CheckFinding &f) {
    if (f.check != "leak")
        return location(f.at);
    CheckPlace place{f.maker, "", {}, {}, 0};
    const auto known = std::ranges::find_if(f.made, [](const SourceFrame &s) {
        return s.line && s.file.find("/include/hip/") == s.file.npos;
    });
    if (known != f.made.end())
        place.frames = {*known};
    return location(place);
}

std::string xml(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else
            out += code < ' ' && c != '\n' && c != '\t' ? '?' : c;
    }
    return out;
}

} // namespace

Json check_json(const CheckResult &result, const CheckOptions &options) {
    Json findings = Json::array();
    for (const CheckFinding &f : result.findings)
        findings.push_back(finding_json(f));
    return {{"program", options.program},      {"gfx", options.gfx},
            {"tools", options.tools},          {"launches", result.launches},
            {"checked", result.checked},       {"exit_code", result.exit_code},
            {"suppressed", result.suppressed}, {"findings", findings}};
}

Json check_sarif(const CheckResult &result) {
    Json rules = Json::array(), results = Json::array();
    std::set<std::string> known;
    for (const CheckFinding &f : result.findings) {
        const std::string id = rule_id(f);
        if (known.insert(id).second)
            rules.push_back({{"id", id}, {"shortDescription", {{"text", f.title}}}});
        Json row = {
            {"ruleId", id},
            {"level", "error"},
            {"message", {{"text", fmt::format("{} ({}): {}", f.title, f.kernel, f.message)}}},
            {"locations", {location(f)}}};
        if (f.other)
            row["relatedLocations"] = {location(*f.other)};
        row["occurrenceCount"] = f.count;
        results.push_back(std::move(row));
    }
    return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs",
             {{{"tool", {{"driver", {{"name", "nw check"}, {"rules", rules}}}}},
               {"results", results}}}}};
}

// A case for each kind of finding; one that passes without any.
std::string check_junit(const CheckResult &result, const CheckOptions &options) {
    const std::string name = xml(fmt::format("{}", fmt::join(options.program, " ")));
    const size_t count = result.findings.size();
    std::string out = fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite "
                                  "name=\"nw check\" tests=\"{}\" failures=\"{}\">\n",
                                  std::max<size_t>(count, 1), count);
    for (const CheckFinding &f : result.findings)
        out += fmt::format("  <testcase classname=\"{}\" name=\"{}\">\n    <failure type=\"{}\" "
                           "message=\"{}\">{}</failure>\n  </testcase>\n",
                           xml(f.kernel), xml(fmt::format("{} at {}", rule_id(f), f.at.source())),
                           xml(rule_id(f)), xml(f.title), xml(check_text(f)));
    if (count == 0)
        out += fmt::format("  <testcase classname=\"nw check\" name=\"{}\"/>\n", name);
    return out + "</testsuite>\n";
}

} // namespace nw::cli
