// SPDX-License-Identifier: MIT
#include "bench/golden/golden.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace nw::bench {

namespace {

// Of two lists by name: f(name, only in the first, only in the second, in both).
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

std::string to_text(const std::string &gfx, const Golden &golden) {
    std::vector<std::string> lines;
    for (const auto &[symbol, figures] : golden) {
        std::vector<std::string> values;
        for (const auto &[figure, value] : figures)
            values.push_back(fmt::format("\"{}\": {:.6g}", figure, value));
        lines.push_back(fmt::format("\"{}\": {{{}}}", symbol, fmt::join(values, ", ")));
    }
    return fmt::format("{{\n\"gfx\": \"{}\",\n\"kernels\": {{\n{}\n}}\n}}\n", gfx,
                       fmt::join(lines, ",\n"));
}

Golden read_golden(const std::string &path) {
    try {
        std::ifstream file(path);
        return nlohmann::json::parse(file).at("kernels").get<Golden>();
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
