// SPDX-License-Identifier: MIT
#include "bench/stride/stride.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/decode/published_times.h"
#include "bench/published.h"
#include "formats/row_stride.h"

namespace nw::bench {

namespace {

using Json = nlohmann::json;

// Rows by how far apart they are: bytes after each.
struct Padded {
    u32 n, k;
    std::vector<u64> pads; // the first is what others are compared with
    f64 published = 0;     // speedup of the second padding, where it is known
    std::vector<f64> us{};
    f64 speedup(u64 i) const { return us[0] / us[i]; }
    std::string name() const { return fmt::format("{}x{}", k, n); }
};

// f16, symmetric, groups of 128, one row of activations: what the published table is taken to be.
DecodeJob job_of(const std::string &gfx, const Padded &p, u64 pad) {
    const ProductShape shape{Dtype::f16, Zeros::eight, 1, p.n, p.k, 128, p.k / 2 + pad};
    return {shape, "", "", &chosen_kernel(gfx, shape)};
}

void time_all(const std::string &gfx, std::vector<Padded> &rows) {
    std::vector<DecodeJob> jobs;
    for (const Padded &p : rows)
        for (u64 pad : p.pads)
            jobs.push_back(job_of(gfx, p, pad));
    const std::vector<DecodeTime> times = time_decode(jobs);
    u64 next = 0;
    for (Padded &p : rows)
        for (u64 i = 0; i < p.pads.size(); ++i)
            p.us.push_back(times[next++].us);
}

std::vector<Padded> published_rows(const std::string &gfx) {
    std::vector<Padded> out;
    if (gfx != published_gfx)
        return {{2048, 8192, {0, 128}, 1}}; // "0.995 to 1.008"
    for (const PublishedStride &p : read_published_stride(NW_BENCH_DATA "/stride_gfx1151.csv"))
        out.push_back({p.n, p.k, {0, 128}, p.padded_gib_s / p.unpadded_gib_s});
    return out;
}

// K whose rows are multiples of 2048, 1024, 512 and 256 bytes, and of none of these.
std::vector<Padded> scan_rows() {
    const std::vector<u64> pads = {0, 64, 128, 192, 256, 384, 512, 640};
    std::vector<Padded> out;
    for (const auto &[k, n] : {std::pair{2048u, 6144u},
                               {4096u, 4096u},
                               {8192u, 2048u},
                               {14336u, 4096u},
                               {16384u, 2048u},
                               {3072u, 8192u},
                               {2560u, 6144u},
                               {11264u, 4096u},
                               {3584u, 4608u},
                               {9728u, 2560u}})
        out.push_back({n, k, pads});
    return out;
}

Json json_of(const Bound &bound, const std::string &gfx, const std::string &table, const Padded &p,
             u64 i) {
    const DecodeJob job = job_of(gfx, p, p.pads[i]);
    Json row = to_json(job, {p.us[i]}, bound);
    row.erase("valu_slots_per_8w");
    row["table"] = table;
    row["pad"] = p.pads[i];
    row["speedup"] = p.speedup(i);
    if (table == "published" && p.pads[i])
        row["published_speedup"] = p.published;
    return row;
}

void print_published(const std::string &gfx, const std::vector<Padded> &rows) {
    fmt::print("\nRows of weights as they are, and 128 bytes further apart, on sim {}: us, weights "
               "in GiB/s; ratio: what\npadding gains, by decode_w4a16 in the model and as "
               "published of another kernel on hardware\n\n"
               "{:>12} {:>9} {:>9} {:>8} {:>8} {:>7} {:>10}\n",
               gfx, "K x N", "as is", "padded", "GiB/s", "GiB/s", "ratio", "published");
    for (const Padded &p : rows) {
        const f64 gib = f64{1} * p.n * p.k / 2 * 1e6 / (u64{1} << 30);
        fmt::print("{:>12} {:>9.2f} {:>9.2f} {:>8.1f} {:>8.1f} {:>7.3f} {:>10.3f}\n", p.name(),
                   p.us[0], p.us[1], gib / p.us[0], gib / p.us[1], p.speedup(1), p.published);
    }
}

void print_scan(const std::string &gfx, const std::vector<Padded> &rows) {
    fmt::print("\nBytes after each row, on sim {}: speedup over none; rule: what "
               "weight_row_stride gives (marked *)\n\n{:>12} {:>10}",
               gfx, "K x N", "row % 2048");
    for (u64 pad : rows.front().pads)
        fmt::print(" {:>7}", pad);
    fmt::print(" {:>7}\n", "us");
    std::vector<f64> mean(rows.front().pads.size(), 0);
    f64 rule = 0;
    for (const Padded &p : rows) {
        const u64 chosen = weight_row_stride(gfx, p.k) - p.k / 2;
        fmt::print("{:>12} {:>10}", p.name(), p.k / 2 % 2048);
        for (u64 i = 0; i < p.pads.size(); ++i) {
            fmt::print(" {:>6.3f}{}", p.speedup(i), p.pads[i] == chosen ? "*" : " ");
            mean[i] += std::log(p.speedup(i)) / static_cast<f64>(rows.size());
            if (p.pads[i] == chosen)
                rule += std::log(p.speedup(i)) / static_cast<f64>(rows.size());
        }
        fmt::print(" {:>7.2f}\n", p.us[0]);
    }
    fmt::print("{:>23}", "geometric mean");
    for (f64 log : mean)
        fmt::print(" {:>6.3f} ", std::exp(log));
    fmt::print("; by the rule {:.3f}\n", std::exp(rule));
}

} // namespace

Json run_stride(const Options &o) {
    const std::regex only = only_pattern(o);
    std::vector<std::string> parts = {"gfx1151", "gfx1150"};
    if (!o.device.empty())
        parts = {simulated_gfx(o)};
    Json json = Json::array();
    for (const std::string &gfx : parts) {
        const Bound bound = dram_bound(gfx);
        for (const auto &[table, all, print] :
             {std::tuple{"published", published_rows(gfx), &print_published},
              std::tuple{"scan", scan_rows(), &print_scan}}) {
            std::vector<Padded> rows = all;
            std::erase_if(rows, [&, table = std::string(table)](const Padded &p) {
                return !std::regex_search(fmt::format("{} {} {}", table, gfx, p.name()), only);
            });
            if (rows.empty())
                continue;
            time_all(gfx, rows);
            print(gfx, rows);
            for (const Padded &p : rows)
                for (u64 i = 0; i < p.pads.size(); ++i)
                    json.push_back(json_of(bound, gfx, table, p, i));
        }
    }
    if (json.empty())
        throw Usage(fmt::format("--only {}: no row of the suite stride has such a name", o.only));
    return json;
}

} // namespace nw::bench
