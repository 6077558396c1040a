// SPDX-License-Identifier: MIT
// The stride cliff of gfx1151: rows whose distance is a multiple of 2048 bytes are slower than rows
// 128 bytes further apart, and are not on gfx1150.
#include <fmt/format.h>
#include <functional>
#include <map>

#include "base/progress.h"
#include "bench/published.h"
#include "bench/validate/tables.h"
#include "measure/cold_product.h"

namespace nw::bench {

namespace {

constexpr u64 padding = 128;

struct Cliff {
    std::string gfx;
    u32 n, k, m;
    f64 published; // weights per second, padded by unpadded

    std::string fact() const {
        return fmt::format("cliff {} {} m{} padded/unpadded", gfx, by(k, n), m);
    }
    // f16 without zero points, groups of 128: presumably the published test.
    ProductShape shape(u64 pad) const {
        return {Dtype::f16, Zeros::eight, m, n, k, 128, k / 2 + pad};
    }
};

std::vector<Cliff> published_rows(const Pattern &only) {
    std::vector<Cliff> out;
    for (const PublishedStride &p : read_published_stride(NW_BENCH_DATA "/stride_gfx1151.csv"))
        out.push_back({std::string(published_gfx), p.n, p.k, 1, p.padded_gib_s / p.unpadded_gib_s});
    for (u32 m : {1, 2, 4}) // published as "0.995 to 1.008"
        out.push_back({"gfx1150", 2048, 8192, m, 1});
    std::erase_if(out, [&](const Cliff &c) { return !only.found_in(c.fact()); });
    return out;
}

} // namespace

Json measure_cliff(ModelRun &run) {
    const std::vector<Cliff> all = published_rows(run.only);
    std::map<std::string, std::vector<ProductShape>, std::greater<>> shapes; // by gfx: 1151 first
    u64 work = 0;
    for (const Cliff &c : all) {
        shapes[c.gfx].push_back(c.shape(padding));
        work += u64{c.n} * c.k;
    }
    Progress progress(work);
    Json rows = Json::array();
    for (const auto &[gfx, largest] : shapes) {
        ColdProduct product(run.device(gfx), ops_of(largest));
        for (const Cliff &c : all) {
            if (c.gfx != gfx)
                continue;
            if (run.at_once == 1)
                progress.show(c.fact());
            const f64 unpadded = published_us(product, gfx, c.shape(0)),
                      padded = published_us(product, gfx, c.shape(padding)),
                      gib = f64{1} * c.n * c.k / 2 * 1e6 / (u64{1} << 30);
            Json row = validated(c.fact(), "cliff", c.published, unpadded / padded);
            row.update({{"_gfx", c.gfx},
                        {"_size", by(c.k, c.n)},
                        {"_m", c.m},
                        {"_unpadded", gib / unpadded},
                        {"_padded", gib / padded}});
            rows.push_back(row);
            progress.clear();
            if (run.done)
                run.done(row);
            progress.advance(u64{c.n} * c.k);
        }
    }
    return rows;
}

Table begin_cliff(bool) {
    fmt::print("\nRows as they are against rows {} bytes further apart, weights in GiB/s (sim); "
               "ratio: padded to\nunpadded, modelled and published\n\n",
               padding);
    return Table("gfx {_gfx:<8}; K x N {_size:>12}; m {_m:>2}; unpadded {_unpadded:>10.1f}; "
                 "padded {_padded:>10.1f}; ratio {modelled:>8.3f}; "
                 "published {published:>10.3f}; error {error_pct:>+7.1f}%");
}

void summarize_cliff(const Json &rows) { fmt::print("\ncliff: {}\n", summary(rows)); }

} // namespace nw::bench
