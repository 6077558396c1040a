// SPDX-License-Identifier: MIT
#include "bench/golden/golden.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/targets.h"

namespace nw::bench {

namespace {

// Calls visit(name, first's value or null, second's value or null) for each name of two maps.
template <class Map, class Visit>
void merge(const Map &first, const Map &second, const Visit &visit) {
    for (const auto &[name, value] : first)
        if (const auto other = second.find(name); other != second.end())
            visit(name, &value, &other->second);
        else
            visit(name, &value, nullptr);
    for (const auto &[name, value] : second)
        if (!first.contains(name))
            visit(name, nullptr, &value);
}

using Gfxs = std::set<std::string>;

// Pattern of the targets that share all but the last digit: "gfx103x" for gfx1030.
std::string series_of(const std::string &gfx) { return gfx.substr(0, gfx.size() - 1) + "x"; }

Gfxs gfxs_of_series(const std::string &series) {
    Gfxs out;
    for (const Target &target : targets())
        if (series_of(std::string(target.name)) == series)
            out.emplace(target.name);
    return out;
}

std::string names_of(const Gfxs &gfxs) {
    Gfxs out;
    for (const std::string &gfx : gfxs) {
        const Gfxs all = gfxs_of_series(series_of(gfx));
        const bool whole = all.size() > 1 && std::ranges::includes(gfxs, all);
        out.insert(whole ? series_of(gfx) : gfx);
    }
    return fmt::format("{}", fmt::join(out, " "));
}

Gfxs gfxs_of(const std::string &names) {
    Gfxs out;
    std::istringstream words(names);
    for (std::string name; words >> name;)
        if (name.ends_with('x'))
            out.merge(gfxs_of_series(name));
        else
            out.insert(name);
    return out;
}

std::string text(const Figures &figures) {
    std::vector<std::string> out;
    for (const auto &[figure, value] : figures)
        out.push_back(fmt::format("\"{}\": {:.6g}", figure, value));
    return fmt::format("{{{}}}", fmt::join(out, ", "));
}

bool more_is_better(const std::string &figure) { return figure == "waves_per_simd"; }

void compare_figure(GoldenChanges &out, const std::string &what, const std::string &figure,
                    f64 before, f64 now, f64 tolerance_pct) {
    if (before == now)
        return;
    const f64 pct = before != 0 ? 100 * (now / before - 1) : now > 0 ? 100 : -100;
    const std::string line =
        fmt::format("{}: {} {:g} -> {:g}, {:+.1f} %", what, figure, before, now, pct);
    const f64 worse_pct = more_is_better(figure) ? -pct : pct;
    if (worse_pct > tolerance_pct)
        out.worse.push_back(line);
    else if (worse_pct < -tolerance_pct)
        out.better.push_back(line);
}

} // namespace

std::string to_text(const GoldenOfAll &all) {
    std::map<std::string, std::map<std::string, Gfxs>> rows; // by symbol and text of figures
    for (const auto &[gfx, golden] : all)
        for (const auto &[symbol, figures] : golden)
            rows[symbol][text(figures)].insert(gfx);
    std::vector<std::string> lines;
    for (const auto &[symbol, by_figures] : rows) {
        std::map<std::string, std::string> sorted;
        for (const auto &[figures, gfxs] : by_figures)
            sorted.emplace(names_of(gfxs), figures);
        for (const auto &[names, figures] : sorted)
            lines.push_back(fmt::format("[\"{}\", \"{}\", {}]", symbol, names, figures));
    }
    return fmt::format("[\n{}\n]\n", fmt::join(lines, ",\n"));
}

GoldenOfAll read_golden(const std::string &path) {
    try {
        std::ifstream file(path);
        GoldenOfAll out;
        for (const auto &row : nlohmann::json::parse(file))
            for (const std::string &gfx : gfxs_of(row.at(1)))
                out[gfx][row.at(0)] = row.at(2).get<Figures>();
        return out;
    } catch (const nlohmann::json::exception &e) {
        throw Error(fmt::format("{}: {}; ./bench/run --update-golden writes it", path, e.what()));
    }
}

GoldenChanges compare(const Golden &before, const Golden &now, f64 tolerance_pct) {
    GoldenChanges out;
    merge(before, now, [&](const std::string &symbol, const Figures *then, const Figures *these) {
        if (!then)
            out.added.push_back(symbol);
        else if (!these)
            out.gone.push_back(symbol);
        else
            merge(*then, *these, [&](const std::string &figure, const f64 *was, const f64 *is) {
                if (!was)
                    out.added.push_back(fmt::format("{}: {}", symbol, figure));
                else if (!is)
                    out.gone.push_back(fmt::format("{}: {}", symbol, figure));
                else
                    compare_figure(out, symbol, figure, *was, *is, tolerance_pct);
            });
    });
    return out;
}

} // namespace nw::bench
