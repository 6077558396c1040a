// SPDX-License-Identifier: MIT
#include "bench/product.h"
#include "bench/published.h"

#include <fmt/format.h>

#include "base/half.h"
#include "base/targets.h"

namespace nw::bench {

namespace {

// All but the family's "_w4a16".
std::string short_name(const Kernel &kernel) {
    constexpr std::string_view common = "_w4a16";
    std::string out(kernel.symbol);
    if (const u64 at = out.find(common); at != out.npos)
        out.erase(at, common.size());
    return out;
}

} // namespace

std::string zeros_label(Zeros zeros) {
    return zeros == Zeros::eight ? "sym" : std::string(zeros_name(zeros));
}

std::string type_name(const ProductShape &p) {
    return fmt::format("{} {} m{}", nw::name(p.dtype), zeros_label(p.zeros), p.m);
}

std::string name(const ProductShape &p) {
    return fmt::format("{} g{} {}", by(p.k, p.n), group_name(p.group), type_name(p));
}

f64 slots_per_8_weights(const Instructions &counts, const ProductShape &p) {
    return 32.0 * 8 * static_cast<f64>(counts.valu_slots()) / (f64{1} * p.n * p.k);
}

std::string simulated_gfx(const Options &o) {
    if (o.device.empty() || o.device == "sim")
        return std::string(published_gfx);
    if (!o.device.starts_with("sim:"))
        throw Usage(fmt::format("--device {}: suite {} is of modelled times, on sim:gfx...; for a "
                                "card there is the suite layer",
                                o.device, o.suite));
    const std::string name = o.device.substr(4);
    if (const auto settings = name.find('?'); settings != name.npos)
        throw Usage(fmt::format("--device {}: suite {} opens devices of its own: set {} by the "
                                "variables HIPSIM_*",
                                o.device, o.suite, name.substr(settings + 1)));
    return target_of(name).name.data();
}

std::string time_columns(const Options &o, u32 width) {
    return fmt::format("; time us {{time_us:>{}.2f}}", width) + range_column(o);
}

std::string range_column(const Options &o) {
    return o.uncertainty ? "; of draws {_range:>10}" : "";
}

void add_bounds(Json &row, const DrawnTime &time) {
    if (time.draws.empty())
        return;
    const auto digits = [](f64 us) { // three significant ones
        return fmt::format("{:.{}f}", us, us < 9.995 ? 2 : us < 99.95 ? 1 : 0);
    };
    row["time_low_us"] = time.low();
    row["time_high_us"] = time.high();
    row["draws_us"] = time.draws;
    row["_range"] = digits(time.low()) + "-" + digits(time.high());
}

std::vector<f64> means_of_draws(std::span<const Json *const> rows, const char *rate) {
    const Json none = Json::array();
    std::vector<f64> means;
    for (u64 d = 0; d < rows.front()->value("draws_us", none).size(); ++d) {
        std::vector<f64> rates;
        for (const Json *row : rows)
            rates.push_back(row->at(rate).get<f64>() * row->at("time_us").get<f64>() /
                            row->at("draws_us")[d].get<f64>());
        means.push_back(geometric_mean(rates));
    }
    return means;
}

Json to_json(const DenseJob &job, const Timed &time, const Bound &bound) {
    const ProductShape &p = job.shape;
    Json row = {{"model", job.model},
                {"layer", job.layer},
                {"dtype", nw::name(p.dtype)},
                {"group", group_name(p.group)},
                {"zp", zeros_label(p.zeros)},
                {"m", p.m},
                {"n", p.n},
                {"k", p.k},
                {"row_stride", p.w_stride},
                {"valu_slots_per_8w", slots_per_8_weights(time.launch.insts, p)},
                {"time_us", time.us},
                {"gb_per_s", static_cast<f64>(p.bytes_moved()) / time.us / 1e3},
                {"pct_of_bound", 100 * bound.us(p.bytes_moved()) / time.us},
                {"bound", "dram"},
                {"_size", by(p.k, p.n)},
                {"_type", type_name(p)},
                {"_kernel", short_name(*job.kernel)}};
    row.update(kernel_facts(*job.kernel));
    add_bounds(row, time.drawn);
    return row;
}

} // namespace nw::bench
