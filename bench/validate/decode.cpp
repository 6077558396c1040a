// SPDX-License-Identifier: MIT
// The published decode times, modelled, beside the line t0 + bytes / bandwidth.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <tuple>

#include "base/half.h"
#include "base/progress.h"
#include "bench/line_fit.h"
#include "bench/published.h"
#include "bench/validate/validate.h"
#include "measure/cold_product.h"

namespace nw::bench {

namespace {

struct Timed {
    PublishedDecode published;
    SplitKGeometry geometry;
    f64 modelled, line, line_without; // us; the line through all rows of its type, and all others
};

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

std::vector<Timed> time_all(const std::vector<PublishedDecode> &rows) {
    std::vector<ProductShape> shapes;
    u64 work = 0;
    for (const PublishedDecode &p : rows) {
        shapes.push_back(shape_of(p));
        work += p.bytes();
    }
    const hip::Device device("sim:gfx1151");
    ColdProduct product(device, shapes);
    Progress progress(work);
    std::vector<Timed> out;
    for (u64 i = 0; i < rows.size(); ++i) {
        progress.show(fact_of(rows[i]));
        out.push_back(
            {rows[i], published_geometry(device, shapes[i]), splitk_us(product, shapes[i]), 0, 0});
        progress.advance(rows[i].bytes());
    }
    return out;
}

struct TypeErrors {
    std::string type;
    Line line;
    Errors100 by_line, left_out, by_model;
    u64 rows;
};

// Fits the line of each type over every published row of it, whatever of them was run.
std::vector<TypeErrors> fit_lines(std::vector<Timed> &timed,
                                  const std::vector<PublishedDecode> &all) {
    std::vector<TypeErrors> out;
    for (const PublishedDecode &first : all) {
        const std::string type = first.type();
        if (std::ranges::any_of(out, [&](const TypeErrors &t) { return t.type == type; }))
            continue;
        std::vector<Point> points;
        std::vector<const PublishedDecode *> of_type;
        for (const PublishedDecode &p : all)
            if (p.type() == type) {
                points.push_back({static_cast<f64>(p.bytes()), p.us});
                of_type.push_back(&p);
            }
        const Line line = fit_line(points);
        const std::vector<f64> without = leave_one_out(points);
        std::vector<f64> by_line, left_out, by_model;
        for (u64 i = 0; i < points.size(); ++i) {
            by_line.push_back(error_pct(line.at(points[i].bytes), points[i].us));
            left_out.push_back(error_pct(without[i], points[i].us));
            for (Timed &t : timed)
                if (fact_of(t.published) == fact_of(*of_type[i])) {
                    t.line = line.at(points[i].bytes);
                    t.line_without = without[i];
                    by_model.push_back(error_pct(t.modelled, t.published.us));
                }
        }
        if (!by_model.empty())
            out.push_back({type, line, summarize(by_line), summarize(left_out), summarize(by_model),
                           by_model.size()});
    }
    return out;
}

void print_rows(const std::vector<Timed> &timed) {
    fmt::print("\nDecode on gfx1151, us: published, modelled (sim), and the line of the row's "
               "type; rows x loads\n"
               "in flight of a wave, and waves of a workgroup\n\n"
               "{:>12} {:>4} {:<12} {:>5} {:>3} {:>10} {:>10} {:>8} {:>10} {:>8}\n",
               "K x N", "g", "type", "r x l", "w", "published", "modelled", "error", "line",
               "error");
    for (const Timed &t : timed) {
        const PublishedDecode &p = t.published;
        fmt::print("{:>12} {:>4} {:<12} {:>5} {:>3} {:>10.2f} {:>10.2f} {:>+7.1f}% {:>10.2f} "
                   "{:>+7.1f}%\n",
                   fmt::format("{}x{}", p.k, p.n), p.group, p.type(),
                   fmt::format("{}x{}", t.geometry.rows, t.geometry.unroll), t.geometry.waves, p.us,
                   t.modelled, error_pct(t.modelled, p.us), t.line, error_pct(t.line, p.us));
    }
}

void print_types(const std::vector<TypeErrors> &types) {
    fmt::print("\n{:<12} {:>5} | {:>8} {:>8} {:>7} {:>8} {:>18} | {:>8} {:>8}\n", "type", "rows",
               "line: t0", "GB/s", "MAPE", "worst", "MAPE left out", "model", "worst");
    for (const TypeErrors &t : types)
        fmt::print("{:<12} {:>5} | {:>8.2f} {:>8.1f} {:>6.2f}% {:>+7.1f}% {:>17.2f}% | {:>7.2f}% "
                   "{:>+7.1f}%\n",
                   t.type, t.rows, t.line.t0_us, t.line.gb_per_s(), t.by_line.mape, t.by_line.worst,
                   t.left_out.mape, t.by_model.mape, t.by_model.worst);
}

// What the line can't know: the rows it misses by most, and what the model makes of them.
void print_missed(std::vector<Timed> timed) {
    constexpr f64 far = 8; // percent: as much as the published test tolerates
    std::erase_if(
        timed, [](const Timed &t) { return std::fabs(error_pct(t.line, t.published.us)) < far; });
    if (timed.empty())
        return;
    fmt::print(
        "\nRows that the line misses by {} % or more: line, line drawn without the row, model\n",
        far);
    std::ranges::sort(timed, {}, [](const Timed &t) { return error_pct(t.line, t.published.us); });
    for (const Timed &t : timed)
        fmt::print("  {:<42} {:>+7.1f}% {:>+7.1f}% {:>+7.1f}%\n", fact_of(t.published),
                   error_pct(t.line, t.published.us), error_pct(t.line_without, t.published.us),
                   error_pct(t.modelled, t.published.us));
}

} // namespace

std::vector<Validated> validate_decode(const std::regex &only) {
    std::vector<PublishedDecode> all = read_published_decode(NW_BENCH_DATA "/decode_gfx1151.csv");
    std::erase_if(all, [](const PublishedDecode &p) { return p.fell_back(); });
    std::vector<PublishedDecode> wanted;
    std::ranges::copy_if(all, std::back_inserter(wanted), [&](const PublishedDecode &p) {
        return std::regex_search(fact_of(p), only);
    });
    if (wanted.empty())
        return {};
    std::vector<Timed> timed = time_all(wanted);
    const std::vector<TypeErrors> types = fit_lines(timed, all);
    std::vector<Validated> rows;
    std::vector<f64> by_line, left_out;
    for (const Timed &t : timed) {
        rows.push_back({fact_of(t.published), "decode", t.published.us, t.modelled});
        by_line.push_back(error_pct(t.line, t.published.us));
        left_out.push_back(error_pct(t.line_without, t.published.us));
    }
    print_rows(timed);
    print_types(types);
    print_missed(timed);
    fmt::print("\ndecode, model, one set of constants: {}\n"
               "decode, a line per type: MAPE {:.2f} %, worst {:+.2f} %; each row by a line "
               "through the others: MAPE {:.2f} %, worst {:+.2f} %\n",
               summary(rows), summarize(by_line).mape, summarize(by_line).worst,
               summarize(left_out).mape, summarize(left_out).worst);
    return rows;
}

} // namespace nw::bench
