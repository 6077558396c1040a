// SPDX-License-Identifier: MIT
#include "bench/decode/published_times.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/half.h"
#include "bench/goals.h"
#include "bench/published.h"
#include "formats/row_stride.h"

namespace nw::bench {

namespace {

constexpr f64 far_pct = 6;    // above its line: a row that the published kernel left slow
constexpr f64 model_pct = 10; // the model's worst error but at K = 16384 (T-018)

struct Compared {
    PublishedDecode published;
    DecodeJob job;
    DecodeTime time;
    f64 above_line_pct = 0; // published time against the line of its type
    f64 speedup() const { return published.us / time.us; }
};

DecodeJob job_of(const PublishedDecode &p) {
    const ProductShape shape{p.dtype, p.zeros ? Zeros::typed : Zeros::eight, p.m, p.n, p.k,
                             p.group, weight_row_stride(published_gfx, p.k)};
    return {shape, p.model, "", &chosen_kernel(published_gfx, shape)};
}

std::vector<Compared> compare(const std::regex &only) {
    const std::vector<PublishedDecode> all =
        read_published_decode(NW_BENCH_DATA "/decode_gfx1151.csv");
    const auto lines = lines_by_type(all);
    std::vector<Compared> out;
    std::vector<DecodeJob> jobs;
    for (const PublishedDecode &p : all) {
        if (!std::regex_search(p.name(), only))
            continue;
        jobs.push_back(job_of(p));
        out.push_back({p, jobs.back(), {}, 0});
        if (!p.fell_back())
            out.back().above_line_pct =
                error_pct(p.us, lines.at(p.type()).at(static_cast<f64>(p.bytes())));
    }
    const std::vector<DecodeTime> times = time_decode(jobs);
    for (u64 i = 0; i < out.size(); ++i)
        out[i].time = times[i];
    return out;
}

void print_rows(const std::vector<Compared> &rows, const Bound &bound) {
    fmt::print("Decode on sim {}, weights cold, beside published times of hardware. GB/s: as "
               "published (weights,\nscales, zero points), and of all bytes moved; bound: the time "
               "of these at {:.1f} GB/s, which the\nmodel's DRAM sustains, in percent of ours; "
               "line: published against the line of its type; t: Triton\n\n"
               "{:>12} {:>4} {:<11} {:<30} {:>8} {:>6} {:>6} {:>6} {:>9} {:>7}  {:>7}\n",
               published_gfx, bound.gb_per_s, "K x N", "g", "type", "kernel", "us", "GB/s", "moved",
               "bound", "published", "line", "speedup");
    for (const Compared &r : rows) {
        const PublishedDecode &p = r.published;
        fmt::print(
            "{} {:<30} {:>8.2f} {:>6.1f} {:>6.1f} {:>5.1f}% {:>9.2f} {} {:>7.3f}\n",
            columns(r.job.shape), r.job.kernel->symbol.substr(sizeof "decode_w4a16"), r.time.us,
            r.time.gb_per_s(p.bytes()), r.time.gb_per_s(r.job.shape.bytes_moved()),
            100 * bound.us(r.job.shape) / r.time.us, p.us,
            p.fell_back() ? fmt::format("{:>8}", "t") : fmt::format("{:>+7.1f}%", r.above_line_pct),
            r.speedup());
    }
}

using Some = std::function<bool(const Compared &)>;

// Of the rows that `some` lets through.
struct Speedup {
    u64 rows = 0;
    f64 mean = 0, worst = 0; // geometric mean
    std::string where;
};

Speedup speedup_of(const std::vector<Compared> &rows, const Some &some) {
    Speedup out;
    f64 log_sum = 0;
    for (const Compared &r : rows) {
        if (!some(r))
            continue;
        log_sum += std::log(r.speedup());
        if (!out.rows++ || r.speedup() < out.worst) {
            out.worst = r.speedup();
            out.where = r.published.name();
        }
    }
    out.mean = out.rows ? std::exp(log_sum / static_cast<f64>(out.rows)) : 0;
    return out;
}

bool ran(const Compared &r) { return !r.published.fell_back(); }
bool fell_back(const Compared &r) { return r.published.fell_back(); }
bool far_above(const Compared &r) { return ran(r) && r.above_line_pct > far_pct; }

void print_speedup(const std::string &what, const std::vector<Compared> &rows, const Some &some) {
    const Speedup s = speedup_of(rows, some);
    if (s.rows)
        fmt::print("{:<34} {:>4} rows, speedup {:.3f}, worst {:.3f} ({})\n", what, s.rows, s.mean,
                   s.worst, s.where);
}

void print_slower(const std::vector<Compared> &rows, f64 pct) {
    const u64 slower = static_cast<u64>(std::ranges::count_if(
        rows, [&](const Compared &r) { return error_pct(r.time.us, r.published.us) > pct; }));
    fmt::print("slower than published{}: {} of {} rows\n",
               pct > 0 ? fmt::format(" by more than {} %", pct) : "", slower, rows.size());
}

void print_summary(const std::vector<Compared> &rows) {
    const auto print_some = [&](const std::string &what, const Some &some) {
        print_speedup(what, rows, [&](const Compared &r) { return ran(r) && some(r); });
    };
    fmt::print("\nSpeedups are geometric means; over the published kernel where nothing else is "
               "said\n");
    print_speedup("all", rows, ran);
    for (Dtype dtype : {Dtype::bf16, Dtype::f16})
        print_some(std::string(name(dtype)),
                   [=](const Compared &r) { return r.published.dtype == dtype; });
    for (bool zeros : {false, true})
        print_some(zeros ? "zp" : "sym",
                   [=](const Compared &r) { return r.published.zeros == zeros; });
    for (u32 m : {1, 2, 4})
        print_some(fmt::format("m{}", m), [=](const Compared &r) { return r.published.m == m; });
    print_speedup(fmt::format("more than {} % above the line", far_pct), rows, far_above);
    print_speedup("of rows that fell back to Triton", rows, fell_back);
    print_slower(rows, model_pct);
    print_slower(rows, 0);
}

std::vector<Goal> goals_of(const std::vector<Compared> &rows) {
    std::vector<Goal> out;
    const auto add = [&](const std::string &what, f64 goal, const Some &some) {
        if (const Speedup s = speedup_of(rows, some); s.rows)
            out.push_back({what, goal, s.mean, false, ""});
    };
    if (const Speedup s = speedup_of(rows, ran); s.rows)
        out.push_back({"speedup of every row, the model's error granted", 1 / (1 + model_pct / 100),
                       s.worst, false, s.where});
    add("speedup, all rows of the published kernel", 1.05, ran);
    add(fmt::format("speedup, rows more than {} % above their line", far_pct), 1.10, far_above);
    if (const Speedup s = speedup_of(rows, fell_back); s.rows)
        out.push_back(
            {"speedup, every row that fell back to Triton", 1.7, s.worst, false, s.where});
    add("speedup, all that fell back to Triton", 1.7, fell_back);
    return out;
}

} // namespace

nlohmann::json decode_published(const std::regex &only) {
    const std::vector<Compared> rows = compare(only);
    nlohmann::json json = nlohmann::json::array();
    if (rows.empty())
        return json;
    const Bound bound = dram_bound(std::string(published_gfx));
    print_rows(rows, bound);
    const std::vector<Goal> goals = goals_of(rows);
    if (rows.size() > 1) {
        print_summary(rows);
        print(goals);
    }
    for (const Compared &r : rows) {
        nlohmann::json row = to_json(r.job, r.time, bound);
        row["table"] = "published";
        row["published_kernel"] = r.published.kernel;
        row["published_us"] = r.published.us;
        row["above_line_pct"] = r.above_line_pct;
        row["speedup"] = r.speedup();
        json.push_back(row);
    }
    for (const Goal &g : goals)
        json.push_back(to_json(g));
    return json;
}

} // namespace nw::bench
