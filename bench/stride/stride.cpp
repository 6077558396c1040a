// SPDX-License-Identifier: MIT
// The suite stride: modelled times of decode_w4a16 by the bytes between rows of weights, beside
// published speedups and over a scan of paddings.
#include <fmt/format.h>

#include "bench/product.h"
#include "bench/published.h"
#include "bench/suites.h"
#include "formats/row_stride.h"

namespace nw::bench {

namespace {

// Rows by how far apart they are: bytes after each.
struct Padded {
    u32 n, k;
    std::vector<u64> pads; // the first is what others are compared with
    f64 published = 0;     // speedup of the second padding, where it is known
    std::vector<f64> us{};
    f64 speedup(u64 i) const { return us[0] / us[i]; }
};

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
        out.push_back({n, k, {0, 64, 128, 192, 256, 384, 512, 640}});
    return out;
}

// Times the rows; as JSON.
Json timed(const std::string &gfx, const std::string &table, std::vector<Padded> &rows) {
    std::vector<DenseJob> jobs;
    for (const Padded &p : rows)
        for (u64 pad : p.pads) {
            // f16, symmetric, one row of activations: what the published table is taken to be.
            const ProductShape shape{Dtype::f16, Zeros::eight, 1, p.n, p.k, 128, p.k / 2 + pad};
            jobs.push_back({shape, &chosen_kernel(gfx, shape)});
        }
    const std::vector<Timed> times = time_dense(jobs);
    const Bound bound = dram_bound(gfx);
    Json json = Json::array();
    for (Padded &p : rows)
        for (u64 i = 0; i < p.pads.size(); ++i) {
            const u64 next = json.size();
            p.us.push_back(times[next].us);
            Json row = to_json(jobs[next], times[next], bound);
            row.erase("valu_slots_per_8w");
            row.update({{"table", table}, {"pad", p.pads[i]}, {"speedup", p.speedup(i)}});
            if (table == "published" && p.pads[i])
                row["published_speedup"] = p.published;
            json.push_back(row);
        }
    return json;
}

void print_published(const std::string &gfx, const std::vector<Padded> &rows) {
    fmt::print("\nRows of weights as they are, and 128 bytes further apart, on sim {}: us, weights "
               "in GiB/s; ratio: what\npadding gains, by decode_w4a16 in the model and as "
               "published of another kernel on hardware\n\n"
               "{:>12} {:>9} {:>9} {:>8} {:>8} {:>7} {:>10}\n",
               gfx, "K x N", "as is", "padded", "GiB/s", "GiB/s", "ratio", "published");
    for (const Padded &p : rows) {
        const f64 gib = f64{1} * p.n * p.k / 2 * 1e6 / (u64{1} << 30);
        fmt::print("{:>12} {:>9.2f} {:>9.2f} {:>8.1f} {:>8.1f} {:>7.3f} {:>10.3f}\n", by(p.k, p.n),
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
    std::vector<std::vector<f64>> by_pad(rows.front().pads.size());
    std::vector<f64> by_rule;
    for (const Padded &p : rows) {
        const u64 chosen = weight_row_stride(gfx, p.k) - p.k / 2;
        by_rule.push_back(1); // where it is none of these
        fmt::print("{:>12} {:>10}", by(p.k, p.n), p.k / 2 % 2048);
        for (u64 i = 0; i < p.pads.size(); ++i) {
            fmt::print(" {:>6.3f}{}", p.speedup(i), p.pads[i] == chosen ? "*" : " ");
            by_pad[i].push_back(p.speedup(i));
            if (p.pads[i] == chosen)
                by_rule.back() = p.speedup(i);
        }
        fmt::print(" {:>7.2f}\n", p.us[0]);
    }
    fmt::print("{:>23}", "geometric mean");
    for (const std::vector<f64> &speedups : by_pad)
        fmt::print(" {:>6.3f} ", geometric_mean(speedups));
    fmt::print("; by the rule {:.3f}\n", geometric_mean(by_rule));
}

} // namespace

Result run_stride(const Options &o, const Shapes &) {
    const std::regex only = only_pattern(o);
    std::vector<std::string> parts(stride_targets.begin(), stride_targets.end());
    if (!o.device.empty())
        parts = {simulated_gfx(o)};
    Result out;
    for (const std::string &gfx : parts)
        for (const std::string table : {"published", "scan"}) {
            std::vector<Padded> rows = table == "scan" ? scan_rows() : published_rows(gfx);
            std::erase_if(rows, [&](const Padded &p) {
                return !std::regex_search(fmt::format("{} {} {}", table, gfx, by(p.k, p.n)), only);
            });
            if (rows.empty())
                continue;
            append(out.rows, timed(gfx, table, rows));
            (table == "scan" ? print_scan : print_published)(gfx, rows);
        }
    if (out.rows.empty())
        throw Usage(fmt::format("--only {}: no row of the suite stride has such a name", o.only));
    return out;
}

} // namespace nw::bench
