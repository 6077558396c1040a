// SPDX-License-Identifier: MIT
#include "bench/table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace nw::bench {

namespace {

struct Column {
    std::string indent, heading, key, format; // format: with what stands around the value
    u64 width = 0;
    bool left = true, real = false;

    explicit Column(std::string_view text) {
        const u64 word = std::min(text.find_first_not_of(' '), text.size());
        indent = text.substr(0, word);
        text.remove_prefix(word);
        const u64 open = text.find('{'), colon = text.find(':', open), close = text.find('}', open);
        heading = text.substr(0, open == text.npos ? open : std::max<u64>(open, 1) - 1);
        width = heading.size();
        if (open == text.npos)
            return;
        const std::string_view spec =
            colon < close ? text.substr(colon, close - colon) : std::string_view();
        key = text.substr(open + 1, std::min(colon, close) - open - 1);
        format = fmt::format("{{{}{}", spec, text.substr(close));
        left = spec.find('>') == spec.npos;
        real = spec.ends_with('f');
        const u64 digits = spec.find_first_of("123456789");
        width = digits == spec.npos ? 0 : std::stoul(std::string(spec.substr(digits)));
        width += text.size() - close - 1;
    }

    std::string head() const {
        return left ? fmt::format("{}{:<{}}", indent, heading, width)
                    : fmt::format("{}{:>{}}", indent, heading, width);
    }

    std::string of(const Json &row) const {
        if (format.empty())
            return heading;
        const auto as = fmt::runtime(indent + format);
        const auto value = row.find(key);
        if (value == row.end())
            return fmt::format("{}{:>{}}", indent, "-", width);
        if (value->is_string())
            return fmt::format(as, value->get_ref<const std::string &>());
        return real ? fmt::format(as, value->get<f64>()) : fmt::format(as, value->get<i64>());
    }
};

template <class Text> void print_line(std::string_view columns, const Text &text) {
    constexpr std::string_view between = "; ";
    std::string line;
    while (!columns.empty()) {
        const u64 end = std::min(columns.find(between), columns.size());
        line += (line.empty() ? "" : " ") + text(Column(columns.substr(0, end)));
        columns.remove_prefix(std::min(end + between.size(), columns.size()));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
}

} // namespace

void print_headings(std::string_view columns) {
    print_line(columns, [](const Column &column) { return column.head(); });
}

void print_row(std::string_view columns, const Json &row) {
    print_line(columns, [&](const Column &column) { return column.of(row); });
}

void print_table(std::string_view columns, const Json &rows) {
    print_headings(columns);
    for (const Json &row : rows)
        print_row(columns, row);
}

Json without_labels(Json rows) {
    for (Json &row : rows)
        for (auto at = row.begin(); at != row.end();)
            at = at.key().starts_with("_") ? row.erase(at) : std::next(at);
    return rows;
}

Json kernel_facts(const Kernel &k) {
    return {{"kernel", k.symbol},
            {"gfx", k.gfx},
            {"vgprs", k.vgprs},
            {"lds_bytes", k.lds_bytes},
            {"waves_per_simd", k.waves_per_simd}};
}

std::string by(u64 a, u64 b) { return fmt::format("{}x{}", a, b); }

void append(Json &rows, const Json &more) { rows.insert(rows.end(), more.begin(), more.end()); }

void add_of_m1(Json &rows, const std::vector<std::string> &same) {
    const auto kind = [&](const Json &row) {
        Json values = Json::array();
        for (const std::string &key : same)
            values.push_back(row.at(key));
        return values;
    };
    std::map<Json, f64> one;
    for (const Json &row : rows)
        if (row.at("m") == 1)
            one[kind(row)] = row.at("time_us");
    for (Json &row : rows)
        if (const auto found = one.find(kind(row)); found != one.end())
            row["of_m1"] = row.at("time_us").get<f64>() / found->second;
}

f64 geometric_mean(std::span<const f64> values) {
    f64 sum = 0;
    for (f64 value : values)
        sum += std::log(value);
    return std::exp(sum / static_cast<f64>(values.size()));
}

} // namespace nw::bench
