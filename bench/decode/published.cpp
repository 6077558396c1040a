// SPDX-License-Identifier: MIT
// decode_w4a16 on the products with published times of gfx1151.
#include <algorithm>
#include <fmt/format.h>

#include "base/half.h"
#include "bench/decode/tables.h"
#include "bench/published.h"
#include "formats/packed/row_stride.h"

namespace nw::bench {

namespace {

constexpr f64 far_pct = 6;    // above its line: a row that the published kernel left slow
constexpr f64 model_pct = 10; // the model's worst error but at K = 16384 (T-018)

DenseJob job_of(const PublishedDecode &p) {
    const ProductShape shape{p.dtype, p.zeros ? Zeros::typed : Zeros::eight, p.m, p.n, p.k,
                             p.group, weight_row_stride(published_gfx, p.k)};
    return {shape, &chosen_kernel(published_gfx, shape), {}, p.model, ""};
}

// Times them and prints each.
Json rows_of(const std::vector<PublishedDecode> &published,
             const std::map<std::string, Line> &lines, const Bound &bound, Table &table) {
    std::vector<DenseJob> jobs;
    for (const PublishedDecode &p : published)
        jobs.push_back(job_of(p));
    Json rows = Json::array();
    time_dense(jobs, [&](u64 i, const Timed &time) {
        const PublishedDecode &p = published[i];
        const f64 above =
            p.fell_back() ? 0 : error_pct(p.us, lines.at(p.type()).at(static_cast<f64>(p.bytes())));
        Json row = to_json(jobs[i], time, bound);
        if (!time.drawn.draws.empty())
            row["draws_with_sign"] = draws_that_agree(time.drawn, p.us);
        row.update({{"table", "published"},
                    {"published_kernel", p.kernel},
                    {"published_us", p.us},
                    {"above_line_pct", above},
                    {"speedup", p.us / time.us},
                    {"_name", p.name()},
                    {"_variant", jobs[i].kernel->symbol.substr(sizeof "decode_w4a16")},
                    {"_published_gb_per_s", static_cast<f64>(p.bytes()) / time.us / 1e3},
                    {"_line", p.fell_back() ? "t" : fmt::format("{:+.1f}%", above)}});
        rows.push_back(row);
        table.print(row);
    });
    return rows;
}

// Range of the mean under the draws of the constants; "" without draws.
std::string mean_of_draws(std::span<const Json *const> rows, f64 mean) {
    const std::vector<f64> means = means_of_draws(rows, "speedup");
    if (means.empty())
        return "";
    const auto same = std::ranges::count_if(means, [&](f64 m) { return (m > 1) == (mean > 1); });
    return fmt::format("{:42}{:.3f} to {:.3f} in draws, on this side of 1 in {} of {}\n", "",
                       std::ranges::min(means), std::ranges::max(means), same, means.size());
}

template <class Some>
void print_speedup(const std::string &what, const Json &rows, const Some &some) {
    std::vector<f64> speedups;
    std::vector<const Json *> of;
    const Json *worst = nullptr;
    for (const Json &row : rows) {
        if (!some(row))
            continue;
        of.push_back(&row);
        speedups.push_back(row.at("speedup"));
        if (!worst || row.at("speedup") < worst->at("speedup"))
            worst = &row;
    }
    if (worst)
        fmt::print("{:<32} {:>3} rows, speedup {:.3f}, worst {:.3f} ({})\n{}", what,
                   speedups.size(), geometric_mean(speedups), worst->at("speedup").get<f64>(),
                   worst->at("_name").get<std::string>(),
                   mean_of_draws(of, geometric_mean(speedups)));
}

void print_slower(const Json &rows, f64 pct) {
    const auto slower = std::ranges::count_if(rows, [&](const Json &row) {
        return error_pct(row["time_us"], row["published_us"]) > pct;
    });
    fmt::print("slower than published{}: {} of {} rows\n",
               pct > 0 ? fmt::format(" by more than {} %", pct) : "", slower, rows.size());
}

void print_summary(const Json &rows) {
    const auto ran = [](const Json &row) { return row["published_kernel"] != "triton"; };
    const auto print_of = [&](const std::string &what, const char *key, const Json &value) {
        print_speedup(what, rows, [&](const Json &row) { return ran(row) && row[key] == value; });
    };
    fmt::print("\nSpeedups are geometric means; over the published kernel where nothing else is "
               "said\n");
    print_speedup("all", rows, ran);
    for (const char *dtype : {"bf16", "f16"})
        print_of(dtype, "dtype", dtype);
    print_of("sym", "zp", "sym");
    print_of("zp", "zp", "zt");
    for (u32 m : {1, 2, 4})
        print_of(fmt::format("m{}", m), "m", m);
    print_speedup(fmt::format("more than {} % above the line", far_pct), rows,
                  [&](const Json &row) { return ran(row) && row["above_line_pct"] > far_pct; });
    print_speedup("of rows that fell back to Triton", rows, std::not_fn(ran));
    print_slower(rows, model_pct);
    print_slower(rows, 0);
}

} // namespace

Json decode_published(const Options &o, const Pattern &only) {
    std::vector<PublishedDecode> published =
        read_published_decode(NW_BENCH_DATA "/decode_gfx1151.csv");
    const auto lines = lines_by_type(published);
    std::erase_if(published, [&](const PublishedDecode &p) { return !only.found_in(p.name()); });
    if (published.empty())
        return Json::array();
    const Bound bound = dram_bound(std::string(published_gfx));
    fmt::print(
        "Decode on sim {}: modelled times, weights cold, beside published times of hardware.\n"
        "type: of activations; sym: no zero points; zt: zero points in their type; mM: M rows "
        "of them.\n"
        "GB/s: of all bytes moved; % bound: the time of these bytes at {:.1f} GB/s, which "
        "DRAM sustains,\n"
        "by the time of the kernel; speedup: published time by ours.\n",
        published_gfx, bound.gb_per_s);
    if (o.verbose)
        fmt::print("read: GB/s as published, of weights, scales and zero points; line: published "
                   "against the line\nof its type; t: Triton.\n");
    if (o.uncertainty)
        fmt::print("of draws: least and largest time under 5 draws of the model's constants;\n"
                   "sign: draws in which the speedup is on the same side of 1.\n");
    fmt::print("\n");
    Table table(product_columns + time_columns(o, 8) +
                "; GB/s {gb_per_s:>6.1f}; % bound {pct_of_bound:>7.1f}; "
                "published us {published_us:>12.2f}; speedup {speedup:>7.3f}" +
                (o.uncertainty ? "; sign {draws_with_sign:>4}" : "") +
                (o.verbose
                     ? "; read {_published_gb_per_s:>6.1f}; line {_line:>8}; kernel {_variant}"
                     : ""));
    const Json rows = rows_of(published, lines, bound, table);
    if (rows.size() > 1)
        print_summary(rows);
    return rows;
}

} // namespace nw::bench
