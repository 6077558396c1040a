// SPDX-License-Identifier: MIT
// The stride cliff of gfx1151: rows whose distance is a multiple of 2048 bytes are slower than rows
// 128 bytes further apart, and are not on gfx1150.
#include <fmt/format.h>
#include <optional>

#include "base/progress.h"
#include "bench/published.h"
#include "bench/validate/validate.h"
#include "measure/cold_product.h"

namespace nw::bench {

namespace {

constexpr u64 padding = 128;

struct Cliff {
    std::string gfx;
    u32 n, k, m;
    f64 published; // padded against unpadded, weights a second
    f64 unpadded_us = 0, padded_us = 0;

    std::string fact() const {
        return fmt::format("cliff {} {}x{} m{} padded/unpadded", gfx, k, n, m);
    }
    f64 modelled() const { return unpadded_us / padded_us; }
    f64 gib_per_s(f64 us) const { return f64{1} * n * k / 2 / us * 1e6 / (u64{1} << 30); }
};

// f16 without zero points, groups of 128: what the published test is taken to have run.
ProductShape shape_of(const Cliff &c, u64 pad) {
    return {Dtype::f16, Zeros::eight, c.m, c.n, c.k, 128, c.k / 2 + pad};
}

std::vector<Cliff> published_rows() {
    std::vector<Cliff> out;
    for (const PublishedStride &p : read_published_stride(NW_BENCH_DATA "/stride_gfx1151.csv"))
        out.push_back({"gfx1151", p.n, p.k, 1, p.padded_gib_s / p.unpadded_gib_s});
    for (u32 m : {1, 2, 4}) // published as "0.995 to 1.008"
        out.push_back({"gfx1150", 2048, 8192, m, 1});
    return out;
}

void measure(std::vector<Cliff> &rows, const std::string &gfx, Progress &progress) {
    std::vector<ProductShape> shapes;
    for (const Cliff &c : rows)
        if (c.gfx == gfx)
            shapes.push_back(shape_of(c, padding));
    if (shapes.empty())
        return;
    const hip::Device device("sim:" + gfx);
    ColdProduct product(device, shapes);
    for (Cliff &c : rows) {
        if (c.gfx != gfx)
            continue;
        progress.show(c.fact());
        c.unpadded_us = splitk_us(product, shape_of(c, 0));
        c.padded_us = splitk_us(product, shape_of(c, padding));
        progress.advance(u64{c.n} * c.k);
    }
}

} // namespace

std::vector<Validated> validate_cliff(const std::regex &only) {
    std::vector<Cliff> rows = published_rows();
    std::erase_if(rows, [&](const Cliff &c) { return !std::regex_search(c.fact(), only); });
    if (rows.empty())
        return {};
    u64 work = 0;
    for (const Cliff &c : rows)
        work += u64{c.n} * c.k;
    {
        Progress progress(work);
        for (const char *gfx : {"gfx1151", "gfx1150"})
            measure(rows, gfx, progress);
    }
    fmt::print("\nRows as they are against rows {} bytes further apart, weights in GiB/s (sim); "
               "ratio is padded to unpadded\n\n"
               "{:<8} {:>12} {:>2} {:>10} {:>10} {:>8} {:>10} {:>8}\n",
               padding, "gfx", "K x N", "m", "unpadded", "padded", "ratio", "published", "error");
    std::vector<Validated> out;
    for (const Cliff &c : rows) {
        out.push_back({c.fact(), "cliff", c.published, c.modelled()});
        fmt::print("{:<8} {:>12} {:>2} {:>10.1f} {:>10.1f} {:>8.3f} {:>10.3f} {:>+7.1f}%\n", c.gfx,
                   fmt::format("{}x{}", c.k, c.n), c.m, c.gib_per_s(c.unpadded_us),
                   c.gib_per_s(c.padded_us), c.modelled(), c.published, out.back().error_pct());
    }
    fmt::print("\ncliff: {}\n", summary(out));
    return out;
}

} // namespace nw::bench
