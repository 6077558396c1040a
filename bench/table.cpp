// SPDX-License-Identifier: MIT
#include "bench/table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/terminal.h"

namespace nw::bench {

struct Table::Column {
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
        const std::string text = indent + format; // runtime() keeps a view of it
        const auto as = fmt::runtime(text);
        const auto value = row.find(key);
        if (value == row.end())
            return fmt::format("{}{:>{}}", indent, "-", width);
        if (value->is_string())
            return fmt::format(as, value->get_ref<const std::string &>());
        return real ? fmt::format(as, value->get<f64>()) : fmt::format(as, value->get<i64>());
    }
};

Table::Table(std::string_view columns) {
    constexpr std::string_view between = "; ";
    while (!columns.empty()) {
        const u64 end = std::min(columns.find(between), columns.size());
        columns_.emplace_back(columns.substr(0, end));
        columns.remove_prefix(std::min(end + between.size(), columns.size()));
    }
}
Table::Table(Table &&) noexcept = default;
Table::~Table() = default;

template <class Text> std::string Table::line(const Text &text) const {
    std::string out;
    for (const Column &column : columns_) {
        if (!out.empty())
            out += ' ';
        out += text(column);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
}

void Table::print_headings() {
    begun_ = true;
    const std::string headings = line([](const Column &column) { return column.head(); });
    if (!headings.empty())
        fmt::print(heading_style(), "{}", headings);
    fmt::print("\n");
}

void Table::print(const Json &row) {
    if (!begun_)
        print_headings();
    fmt::print(row.contains("_wrong") ? bad_style() : fmt::text_style(), "{}",
               line([&](const Column &column) { return column.of(row); }));
    fmt::print("\n");
    std::fflush(stdout);
}

void print_table(std::string_view columns, const Json &rows) {
    Table table(columns);
    table.print_headings();
    for (const Json &row : rows)
        table.print(row);
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

Json OfM1::kind(const Json &row) const {
    Json values = Json::array();
    for (const std::string &key : same_)
        values.push_back(row.at(key));
    return values;
}

void OfM1::add(Json &row) {
    if (row.at("m") == 1)
        one_[kind(row)] = row.at("time_us");
    if (const auto found = one_.find(kind(row)); found != one_.end())
        row["of_m1"] = row.at("time_us").get<f64>() / found->second;
}

void OfM1::add_all(Json &rows) {
    for (u32 round = 0; round < 2; ++round) // a row may come before its row with m 1
        for (Json &row : rows)
            add(row);
}

f64 geometric_mean(std::span<const f64> values) {
    f64 sum = 0;
    for (f64 value : values)
        sum += std::log(value);
    return std::exp(sum / static_cast<f64>(values.size()));
}

} // namespace nw::bench
