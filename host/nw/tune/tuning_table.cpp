// SPDX-License-Identifier: MIT
#include "nw/tune/tuning_table.h"

#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <toml++/toml.h>

#include "base/error.h"
#include "nw/tune/thin.h"
#include "runtime/w4a16.h"

namespace nw::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view head = R"(# SPDX-License-Identifier: MIT
# Written by `nw tune`: the kernel that each shape gets, its time in us with cold weights, the best of the
# others and its time, and the time of the default kernel. A shape without a row has the kernel of the nearest row
# that is at most an octave away, else the default: rows that gain less than what `by` can tell apart are left out.
)";

template <class T> T get(const toml::table &table, std::string_view key) {
    if (const auto value = table[key].value<T>())
        return *value;
    throw Error(fmt::format("line {}: {} is missing or has the wrong type",
                            table.source().begin.line, key));
}

u32 number(const toml::table &table, std::string_view key) {
    const i64 value = get<i64>(table, key);
    if (value < 1 || value >= i64{per_row})
        throw Error(
            fmt::format("line {}: {} = {} is not a size", table.source().begin.line, key, value));
    return static_cast<u32>(value);
}

const toml::array &array(const toml::table &table, std::string_view key) {
    if (const toml::array *found = table[key].as_array())
        return *found;
    throw Error(fmt::format("line {}: the list {} is missing", table.source().begin.line, key));
}

const toml::table &as_table(const toml::node &node) {
    if (const toml::table *found = node.as_table())
        return *found;
    throw Error(fmt::format("line {}: is not a table", node.source().begin.line));
}

std::string group_of(const toml::table &section) {
    return section["group"].is_string() ? get<std::string>(section, "group")
                                        : fmt::format("{}", number(section, "group"));
}

TunedKind kind_of(const toml::table &section) {
    const auto family = get<std::string>(section, "family");
    if (family == gguf_table)
        return {family, "", "", "", get<std::string>(section, "type"), number(section, "m")};
    return {family,
            get<std::string>(section, "dtype"),
            group_of(section),
            get<std::string>(section, "zeros"),
            "",
            number(section, "m")};
}

void add(TuningTable &out, const toml::table &file) {
    for (const toml::node &node : array(file, "tuned")) {
        const toml::table &section = as_table(node);
        const TunedKind kind = kind_of(section);
        for (const toml::node &entry : array(section, "shapes")) {
            const toml::table &row = as_table(entry);
            out.put(kind, number(row, "n"), number(row, "k"),
                    {get<std::string>(row, "kernel"), get<std::string>(row, "next"),
                     get<f64>(row, "us"), get<f64>(row, "next_us"), get<f64>(row, "default_us"),
                     get<std::string>(row, "by")});
        }
    }
}

u32 group_number(const std::string &group) {
    u32 value = 0;
    const auto end = group.data() + group.size();
    const auto [stop, error] = std::from_chars(group.data(), end, value);
    if (group != "k" && (error != std::errc{} || stop != end))
        throw Error(fmt::format("group = \"{}\": must be a number, or \"k\" for per row", group));
    return group == "k" ? per_row : value;
}

} // namespace

TuningTable TuningTable::read(const fs::path &file) {
    TuningTable out;
    if (!fs::exists(file))
        return out;
    try {
        add(out, toml::parse_file(file.string()));
    } catch (const toml::parse_error &e) {
        throw Error(
            fmt::format("{}: line {}: {}", file.string(), e.source().begin.line, e.description()));
    } catch (const Error &e) {
        throw Error(
            fmt::format("{}: {}; gen/tuning.py defines the format", file.string(), e.what()));
    }
    return out;
}

TuningTable::Key TuningTable::key_of(const TunedKind &kind) {
    const bool gguf = kind.family == gguf_table;
    return {kind.family, gguf ? kind.type : kind.dtype, gguf ? 0 : group_number(kind.group),
            kind.zeros, kind.m};
}

void TuningTable::thin(const TunedKind &kind, f64 least_gain) {
    const auto section = kinds_.find(key_of(kind));
    if (section == kinds_.end())
        return;
    section->second = thinned(std::move(section->second), least_gain);
    if (section->second.empty())
        kinds_.erase(section);
}

void TuningTable::put(const TunedKind &kind, u32 n, u32 k, TunedShape shape) {
    kinds_[key_of(kind)][{n, k}] = std::move(shape);
}

const TunedShape *TuningTable::find(const TunedKind &kind, u32 n, u32 k) const {
    const auto section = kinds_.find(key_of(kind));
    if (section == kinds_.end())
        return nullptr;
    const auto row = section->second.find({n, k});
    return row == section->second.end() ? nullptr : &row->second;
}

std::vector<u32> TuningTable::rows(std::string_view family) const {
    std::set<u32> out;
    for (const auto &[key, shapes] : kinds_)
        if (std::get<0>(key) == family)
            out.insert(std::get<4>(key));
    return {out.begin(), out.end()};
}

std::set<std::pair<u32, u32>> TuningTable::shapes(std::string_view family) const {
    std::set<std::pair<u32, u32>> out;
    for (const auto &[key, shapes] : kinds_)
        if (std::get<0>(key) == family)
            for (const auto &[at, row] : shapes)
                out.insert(at);
    return out;
}

void TuningTable::write(const fs::path &file) const {
    std::string text(head);
    for (const auto &[kind, shapes] : kinds_) {
        const auto &[family, dtype, group, zeros, m] = kind;
        text += fmt::format("\n[[tuned]]\nfamily = \"{}\"\n", family);
        text += family == gguf_table
                    ? fmt::format("type = \"{}\"\n", dtype)
                    : fmt::format("dtype = \"{}\"\ngroup = {}\nzeros = \"{}\"\n", dtype,
                                  group == per_row ? "\"k\"" : group_name(group), zeros);
        text += fmt::format("m = {}\nshapes = [\n", m);
        for (const auto &[at, row] : shapes)
            text += fmt::format("  {{ n = {}, k = {}, kernel = \"{}\", us = {:.2f}, next = \"{}\", "
                                "next_us = {:.2f}, default_us = {:.2f}, by = \"{}\" }},\n",
                                at.first, at.second, row.kernel, row.us, row.next, row.next_us,
                                row.default_us, row.by);
        text += "]\n";
    }
    if (kinds_.empty())
        text += "\ntuned = []\n";
    const fs::path part = file.string() + ".part";
    std::ofstream out(part);
    if (!(out << text).flush())
        throw Error(fmt::format(
            "{}: can't be written; name a file in a writable directory with --out", part.string()));
    out.close();
    fs::rename(part, file);
}

} // namespace nw::cli
