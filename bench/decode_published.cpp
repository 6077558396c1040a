// SPDX-License-Identifier: MIT
#include "decode_published.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/half.h"
#include "formats/row_stride.h"
#include "published.h"

namespace nw::bench {

namespace {

constexpr std::string_view gfx = "gfx1151"; // that the published times are of
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
    const ProductShape shape{p.dtype,
                             p.zeros ? Zeros::typed : Zeros::eight,
                             p.m,
                             p.n,
                             p.k,
                             p.group,
                             weight_row_stride(gfx, p.k)};
    return {shape, p.model, "", &chosen_kernel(gfx, shape)};
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
    const std::vector<DecodeTime> times = time_decode(std::string(gfx), jobs);
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
               gfx, bound.gb_per_s, "K x N", "g", "type", "kernel", "us", "GB/s", "moved", "bound",
               "published", "line", "speedup");
    for (const Compared &r : rows) {
        const PublishedDecode &p = r.published;
        fmt::print("{:>12} {:>4} {:<11} {:<30} {:>8.2f} {:>6.1f} {:>6.1f} {:>5.1f}% {:>9.2f} {} "
                   "{:>7.3f}\n",
                   fmt::format("{}x{}", p.k, p.n), p.group, p.type(),
                   r.job.kernel->symbol.substr(sizeof "decode_w4a16"), r.time.us,
                   r.time.gb_per_s(p.bytes()), r.time.gb_per_s(r.job.shape.bytes_moved()),
                   100 * bound.us(r.job.shape) / r.time.us, p.us,
                   p.fell_back() ? fmt::format("{:>8}", "t")
                                 : fmt::format("{:>+7.1f}%", r.above_line_pct),
                   r.speedup());
    }
}

using Some = std::function<bool(const Compared &)>;

// "bf16   114 rows   geometric mean 1.052, worst 0.931 (2048x2048 ...)"
void print_speedup(const std::string &what, const std::vector<Compared> &rows, const Some &some) {
    f64 log_sum = 0;
    u64 count = 0;
    const Compared *worst = nullptr;
    for (const Compared &r : rows) {
        if (!some(r))
            continue;
        log_sum += std::log(r.speedup());
        ++count;
        if (!worst || r.speedup() < worst->speedup())
            worst = &r;
    }
    if (count)
        fmt::print("{:<34} {:>4} rows, speedup {:.3f}, worst {:.3f} ({})\n", what, count,
                   std::exp(log_sum / static_cast<f64>(count)), worst->speedup(),
                   worst->published.name());
}

void print_slower(const std::vector<Compared> &rows, f64 pct) {
    const u64 slower = static_cast<u64>(std::ranges::count_if(
        rows, [&](const Compared &r) { return error_pct(r.time.us, r.published.us) > pct; }));
    fmt::print("slower than published{}: {} of {} rows\n",
               pct > 0 ? fmt::format(" by more than {} %", pct) : "", slower, rows.size());
}

void print_summary(const std::vector<Compared> &rows) {
    const Some ran = [](const Compared &r) { return !r.published.fell_back(); };
    const auto both = [&](auto some) {
        return [=](const Compared &r) { return ran(r) && some(r); };
    };
    fmt::print("\nSpeedups are geometric means; published kernel where nothing else is said\n");
    print_speedup("all", rows, ran);
    for (Dtype dtype : {Dtype::bf16, Dtype::f16})
        print_speedup(std::string(name(dtype)), rows,
                      both([=](const Compared &r) { return r.published.dtype == dtype; }));
    for (bool zeros : {false, true})
        print_speedup(zeros ? "zp" : "sym", rows,
                      both([=](const Compared &r) { return r.published.zeros == zeros; }));
    for (u32 m : {1, 2, 4})
        print_speedup(fmt::format("m{}", m), rows,
                      both([=](const Compared &r) { return r.published.m == m; }));
    print_speedup(fmt::format("more than {} % above the line", far_pct), rows,
                  both([](const Compared &r) { return r.above_line_pct > far_pct; }));
    print_speedup("of rows that fell back to Triton", rows, std::not_fn(ran));
    print_slower(rows, model_pct);
    print_slower(rows, 0);
}

} // namespace

nlohmann::json decode_published(const std::regex &only) {
    const std::vector<Compared> rows = compare(only);
    nlohmann::json json = nlohmann::json::array();
    if (rows.empty())
        return json;
    const Bound bound = dram_bound(std::string(gfx));
    print_rows(rows, bound);
    if (rows.size() > 1)
        print_summary(rows);
    for (const Compared &r : rows) {
        nlohmann::json row = to_json(r.job, r.time, bound);
        row["published_kernel"] = r.published.kernel;
        row["published_us"] = r.published.us;
        row["above_line_pct"] = r.above_line_pct;
        row["speedup"] = r.speedup();
        json.push_back(row);
    }
    return json;
}

} // namespace nw::bench
