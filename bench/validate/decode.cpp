// SPDX-License-Identifier: MIT
// The published decode times, modelled, beside the line t0 + bytes / bandwidth.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "base/half.h"
#include "base/progress.h"
#include "bench/published.h"
#include "bench/validate/tables.h"
#include "measure/cold_product.h"

namespace nw::bench {

namespace {

// Rows of weights as the published library laid them out then: 128 bytes after those whose length
// is a multiple of 2048 (ROCm/vllm pull request 989).
u64 published_stride(u32 k) { return k / 2 % 2048 ? k / 2 : k / 2 + 128; }

ProductShape shape_of(const PublishedDecode &p) {
    return {p.dtype,
            p.zeros ? Zeros::typed : Zeros::eight,
            p.m,
            p.n,
            p.k,
            p.group,
            published_stride(p.k)};
}

std::string fact_of(const PublishedDecode &p) { return fmt::format("decode {} us", p.name()); }

// All rows of a type and the line through them: its error at each row, and the error of a line
// through the other rows.
struct TypeLine {
    std::vector<std::string> facts;
    std::vector<Point> points;
    Line line;
    std::vector<f64> error_pct, without_pct; // of each row
};

std::map<std::string, TypeLine> lines_of(const std::vector<PublishedDecode> &all) {
    std::map<std::string, TypeLine> out;
    for (const PublishedDecode &p : all) {
        TypeLine &type = out[p.type()];
        type.facts.push_back(fact_of(p));
        type.points.push_back({static_cast<f64>(p.bytes()), p.us});
    }
    for (auto &[name, type] : out) {
        type.line = fit_line(type.points);
        for (const Point &p : type.points)
            type.error_pct.push_back(error_pct(type.line.at(p.bytes), p.us));
        type.without_pct = leave_one_out(type.points);
    }
    return out;
}

Json measure(const std::vector<PublishedDecode> &rows, const std::map<std::string, TypeLine> &lines,
             ModelRun &run) {
    std::vector<ProductShape> shapes;
    u64 work = 0;
    for (const PublishedDecode &p : rows) {
        shapes.push_back(shape_of(p));
        work += p.bytes();
    }
    const hip::Device &device = run.device(std::string(published_gfx));
    ColdProduct product(device, ops_of(shapes));
    Progress progress(work);
    Json out = Json::array();
    for (u64 i = 0; i < rows.size(); ++i) {
        const PublishedDecode &p = rows[i];
        if (run.at_once == 1)
            progress.show(fact_of(p));
        const auto [kernel, op] = published_kernel(published_gfx, shapes[i]);
        const TypeLine &type = lines.at(p.type());
        const auto at =
            static_cast<u64>(std::ranges::find(type.facts, fact_of(p)) - type.facts.begin());
        Json row = validated(fact_of(p), "decode", p.us, product.us(kernel, op));
        row.update({{"_size", by(p.k, p.n)},
                    {"_group", p.group},
                    {"_type", p.type()},
                    {"_rows_by_loads", by(kernel.p.rows, kernel.p.unroll)},
                    {"_waves", op.waves},
                    {"_line", type.line.at(type.points[at].bytes)},
                    {"_line_pct", type.error_pct[at]},
                    {"_without_pct", type.without_pct[at]}});
        out.push_back(row);
        progress.clear();
        if (run.done)
            run.done(row);
        progress.advance(p.bytes());
    }
    return out;
}

std::vector<f64> values(const Json &rows, const char *key) {
    std::vector<f64> out;
    for (const Json &row : rows)
        out.push_back(row[key]);
    return out;
}

// A row for each type that was run.
void print_types(const Json &rows, const std::map<std::string, TypeLine> &lines) {
    std::vector<std::string> names; // in the order of the rows
    std::map<std::string, std::vector<f64>> errors;
    for (const Json &row : rows) {
        const std::string name = row["_type"];
        if (!errors.contains(name))
            names.push_back(name);
        errors[name].push_back(row["error_pct"]);
    }
    Json types = Json::array();
    for (const std::string &name : names) {
        const TypeLine &type = lines.at(name);
        const Errors100 line = summarize(type.error_pct), model = summarize(errors[name]);
        types.push_back({{"type", name},
                         {"rows", errors[name].size()},
                         {"t0", type.line.t0_us},
                         {"gb_per_s", type.line.gb_per_s()},
                         {"mape", line.mape},
                         {"worst", line.worst},
                         {"without", summarize(type.without_pct).mape},
                         {"model", model.mape},
                         {"model_worst", model.worst}});
    }
    fmt::print("\n");
    print_table("type {type:<12}; rows {rows:>5}; |; line: t0 {t0:>8.2f}; "
                "GB/s {gb_per_s:>8.1f}; MAPE {mape:>6.2f}%; worst {worst:>+7.1f}%; "
                "MAPE left out {without:>17.2f}%; |; model {model:>7.2f}%; "
                "worst {model_worst:>+7.1f}%",
                types);
}

// Rows that the line misses by most, with the model's errors.
void print_missed(const Json &rows) {
    constexpr f64 far = 8; // percent: tolerance of the published test
    std::vector<Json> missed;
    for (const Json &row : rows)
        if (std::fabs(row["_line_pct"].get<f64>()) >= far)
            missed.push_back(row);
    if (missed.empty())
        return;
    fmt::print("\nRows that the line misses by {} % or more; left out: by a line through the "
               "others\n",
               far);
    std::ranges::sort(missed, {}, [](const Json &row) { return row["_line_pct"].get<f64>(); });
    print_table("row {fact:<42}; line {_line_pct:>+7.1f}%; left out {_without_pct:>+7.1f}%; "
                "model {error_pct:>+7.1f}%",
                Json(missed));
}

// Rows that ran the published kernel.
std::vector<PublishedDecode> published_rows() {
    std::vector<PublishedDecode> out = read_published_decode(NW_BENCH_DATA "/decode_gfx1151.csv");
    std::erase_if(out, [](const PublishedDecode &p) { return p.fell_back(); });
    return out;
}

} // namespace

Json measure_decode(ModelRun &run) {
    const std::vector<PublishedDecode> all = published_rows();
    std::vector<PublishedDecode> wanted = all;
    std::erase_if(wanted, [&](const PublishedDecode &p) { return !run.only.found_in(fact_of(p)); });
    return wanted.empty() ? Json::array() : measure(wanted, lines_of(all), run);
}

Table begin_decode(bool) {
    fmt::print("\nDecode on gfx1151, us: published, modelled (sim), and the line of the row's type "
               "(t0 + bytes /\nbandwidth); r x l: rows x loads in flight of a wave; w: waves of a "
               "workgroup\n\n");
    return Table("K x N {_size:>11}; group {_group:>5}; type {_type:<12}; "
                 "r x l {_rows_by_loads:>5}; w {_waves:>3}; published {published:>9.2f}; "
                 "modelled {modelled:>9.2f}; error {error_pct:>+7.1f}%; line {_line:>9.2f}; "
                 "error {_line_pct:>+7.1f}%");
}

void summarize_decode(const Json &rows) {
    print_types(rows, lines_of(published_rows()));
    print_missed(rows);
    const Errors100 line = summarize(values(rows, "_line_pct")),
                    without = summarize(values(rows, "_without_pct"));
    fmt::print("\ndecode, model, one set of constants:\n  {}\n"
               "decode, a line per type: MAPE {:.2f} %, worst {:+.2f} %; each row by a line "
               "through the\nothers: MAPE {:.2f} %, worst {:+.2f} %\n",
               summary(rows), line.mape, line.worst, without.mape, without.worst);
}

} // namespace nw::bench
