// SPDX-License-Identifier: MIT
#include "bench/decode/decode.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/decode/ablations.h"
#include "bench/decode/published_times.h"
#include "bench/decode/shapes.h"

namespace nw::bench {

namespace {

bool wanted(const Options &o, std::string_view table) {
    if (o.tables.empty())
        return o.only.empty() || table == "published";
    return std::ranges::find(o.tables, table) != o.tables.end();
}

void append(nlohmann::json &rows, const nlohmann::json &more) {
    rows.insert(rows.end(), more.begin(), more.end());
}

} // namespace

nlohmann::json run_decode(const Options &o, const std::vector<LinearShape> &shapes) {
    const std::regex only = only_pattern(o);
    const bool of_published = simulated_gfx(o) == published_gfx;
    nlohmann::json rows = nlohmann::json::array();
    if (of_published && wanted(o, "published"))
        append(rows, decode_published(only));
    if (wanted(o, "shapes"))
        append(rows, decode_shapes(o, o.full ? shapes : layers_of(shapes, o.model), only));
    if (of_published && wanted(o, "ablations"))
        append(rows, decode_ablations(only));
    if (rows.empty())
        throw Usage(fmt::format("--only {}: no row of the suite decode has such a name", o.only));
    return rows;
}

} // namespace nw::bench
