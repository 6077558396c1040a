// SPDX-License-Identifier: MIT
// The suite stride: modelled times of decode_w4a16 by the bytes between rows of weights, beside
// published speedups and over a scan of paddings.
#include <fmt/format.h>
#include <functional>

#include "base/pattern.h"
#include "bench/product.h"
#include "bench/published.h"
#include "bench/result.h"
#include "formats/packed/row_stride.h"

namespace nw::bench {

namespace {

// Times by row padding: bytes after each row.
struct Padded {
    u32 n, k;
    std::vector<u64> pads; // the first is the baseline
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

// K whose rows are multiples of 2048, 1024, 512 or 256 bytes, or of none of these.
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

// Called for each row in order, as soon as its paddings are timed.
using RowDone = std::function<void(const Padded &)>;

// Times the rows; as JSON.
Json timed(const std::string &gfx, const std::string &table, std::vector<Padded> &rows,
           const RowDone &done) {
    std::vector<DenseJob> jobs;
    std::vector<Padded *> of; // each job
    for (Padded &p : rows)
        for (u64 pad : p.pads) {
            // f16, symmetric, one row of activations: what the published table is taken to be.
            const ProductShape shape{Dtype::f16, Zeros::eight, 1, p.n, p.k, 128, p.k / 2 + pad};
            jobs.push_back({shape, &chosen_kernel(gfx, shape)});
            of.push_back(&p);
        }
    const Bound bound = dram_bound(gfx);
    Json json = Json::array();
    time_dense(jobs, [&](u64 at, const Timed &time) {
        Padded &p = *of[at];
        const u64 i = p.us.size();
        p.us.push_back(time.us);
        Json row = to_json(jobs[at], time, bound);
        row.erase("valu_slots_per_8w");
        row.update({{"table", table}, {"pad", p.pads[i]}, {"speedup", p.speedup(i)}});
        if (table == "published" && p.pads[i])
            row["published_speedup"] = p.published;
        json.push_back(row);
        if (p.us.size() == p.pads.size())
            done(p);
    });
    return json;
}

Json published(const std::string &gfx, std::vector<Padded> &rows) {
    fmt::print(
        "\nRows of weights as they are, and 128 bytes further apart, on sim {}: modelled times, "
        "weights in\nGiB/s; ratio: what padding gains, by decode_w4a16; published: by another "
        "kernel on hardware\n\n",
        gfx);
    Table table("K x N {size:>11}; as is us {_us0:>9.2f}; padded us {_us1:>9.2f}; "
                "as is GiB/s {_gib0:>11.1f}; padded GiB/s {_gib1:>12.1f}; ratio {_ratio:>7.3f}; "
                "published {_published:>9.3f}");
    return timed(gfx, "published", rows, [&](const Padded &p) {
        const f64 gib = f64{1} * p.n * p.k / 2 * 1e6 / (u64{1} << 30);
        table.print({{"size", by(p.k, p.n)},
                     {"_us0", p.us[0]},
                     {"_us1", p.us[1]},
                     {"_gib0", gib / p.us[0]},
                     {"_gib1", gib / p.us[1]},
                     {"_ratio", p.speedup(1)},
                     {"_published", p.published}});
    });
}

Json scan(const std::string &gfx, std::vector<Padded> &rows) {
    const std::vector<u64> pads = rows.front().pads;
    fmt::print("\nBytes after each row, on sim {}: modelled speedup over none; *: what "
               "weight_row_stride gives;\nus: without padding\n\n",
               gfx);
    std::string columns = "K x N {size:>11}; row % 2048 {rest:>10}";
    for (u64 pad : pads)
        columns += fmt::format("; {0}  {{{0}:>7}}", pad); // a space for the mark
    Table table(columns + "; us {us:>7.2f}");
    std::vector<std::vector<f64>> by_pad(pads.size());
    std::vector<f64> by_rule;
    const Json json = timed(gfx, "scan", rows, [&](const Padded &p) {
        const u64 chosen = weight_row_stride(gfx, p.k) - p.k / 2;
        Json row = {{"size", by(p.k, p.n)}, {"rest", p.k / 2 % 2048}, {"us", p.us[0]}};
        by_rule.push_back(1); // where it is none of these
        for (u64 i = 0; i < pads.size(); ++i) {
            row[std::to_string(pads[i])] =
                fmt::format("{:.3f}{}", p.speedup(i), pads[i] == chosen ? "*" : " ");
            by_pad[i].push_back(p.speedup(i));
            if (pads[i] == chosen)
                by_rule.back() = p.speedup(i);
        }
        table.print(row);
    });
    Json means = {{"size", "geometric"}, {"rest", "mean"}};
    for (u64 i = 0; i < pads.size(); ++i)
        means[std::to_string(pads[i])] = fmt::format("{:.3f} ", geometric_mean(by_pad[i]));
    table.print(means);
    fmt::print("geometric mean by the rule: {:.3f}\n", geometric_mean(by_rule));
    return json;
}

} // namespace

Result run_suite(const Options &o, const Shapes &) {
    const Pattern only("--only", o.only);
    std::vector<std::string> parts(stride_targets.begin(), stride_targets.end());
    if (!o.device.empty())
        parts = {simulated_gfx(o)};
    Result out;
    for (const std::string &gfx : parts)
        for (const std::string table : {"published", "scan"}) {
            std::vector<Padded> rows = table == "scan" ? scan_rows() : published_rows(gfx);
            std::erase_if(rows, [&](const Padded &p) {
                return !only.found_in(fmt::format("{} {} {}", table, gfx, by(p.k, p.n)));
            });
            if (rows.empty())
                continue;
            append(out.rows, (table == "scan" ? scan : published)(gfx, rows));
        }
    if (out.rows.empty())
        no_row(o, "the suite stride");
    return out;
}

} // namespace nw::bench
