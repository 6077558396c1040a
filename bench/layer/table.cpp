// SPDX-License-Identifier: MIT
#include "bench/layer/table.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/half.h"
#include "base/terminal.h"
#include "bench/part.h"
#include "bench/product.h"

namespace nw::bench {

namespace {

std::string key_of(std::string_view instruction_class) {
    return fmt::format("_thousands_{}", instruction_class);
}

// "f32 71.4, magic 18.3": the slots of the older methods.
std::string before(const Json &rows, const Json &chosen) {
    std::string out;
    for (const Json &r : rows)
        if (r["reference"] == true && r["layer"] == chosen["layer"] &&
            r["dtype"] == chosen["dtype"] && r["m"] == chosen["m"])
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ", r["_dequant"].get<std::string>(),
                               r.contains("valu_slots_per_8w")
                                   ? fmt::format("{:.2f}", r["valu_slots_per_8w"].get<f64>())
                                   : "-");
    return out.empty() ? "-" : out;
}

void print_slots(const Json &rows) {
    Json chosen = Json::array();
    for (Json row : rows)
        if (row["reference"] == false) {
            row["_before"] = before(rows, row);
            chosen.push_back(row);
        }
    fmt::print(
        "\nslots: VALU issue slots per 8 weights and lane, a VOPD pair is one; older: of older "
        "methods\nto dequantize; mean err: as error above\n\n");
    print_table("layer {layer:<9}; type {dtype:<4}; rows {m:>4}; dequant {_dequant:<9}; "
                "slots {valu_slots_per_8w:>5.2f}; older {_before:<23}; VGPRs {vgprs:>5}; "
                "waves/SIMD {waves_per_simd:>10}; mean err {mean_err:>8.3f}",
                chosen);
}

void print_instructions(const Json &rows) {
    constexpr std::array<std::string_view, instruction_classes.size()> headings = {
        "valu", "vopd",  "trans", "wmma", "salu", "smem",
        "load", "store", "lds",   "br",   "wait", "etc"};
    std::string columns = "layer {layer:<8}; type {dtype:<4}; rows {m:>4}; dequant {_dequant:<9}";
    for (u64 i = 0; i < headings.size(); ++i)
        columns += fmt::format("; {} {{{}:>5.0f}}", headings[i], key_of(instruction_classes[i]));
    fmt::print("\nWave instructions in thousands; vopd: pairs\n\n");
    print_table(columns, rows);
}

} // namespace

Json layer_row(const Kernel &kernel, const ProductShape &p, const Errors &errors,
               const std::optional<Instructions> &counts) {
    Json row = {{"dtype", name(p.dtype)},
                {"group", p.group},
                {"m", p.m},
                {"n", p.n},
                {"k", p.k},
                {"row_stride", p.w_stride},
                {"reference", kernel.reference},
                {"max_err", errors.max},
                {"mean_err", errors.mean()},
                {"_size", by(p.n, p.k)},
                {"_dequant", kernel.param("dequant")}};
    row.update(kernel_facts(kernel));
    if (errors.out_of_bound)
        row["_wrong"] = errors.out_of_bound;
    if (!counts)
        return row;
    row["valu_slots_per_8w"] = slots_per_8_weights(*counts, p);
    for (std::string_view c : instruction_classes) {
        row["insts"][std::string(c)] = counts->of(c);
        row[key_of(c)] = static_cast<f64>(counts->of(c)) / 1000;
    }
    row["insts"]["total"] = counts->total();
    return row;
}

LayerTable::LayerTable(const Options &o, const hip::DeviceInfo &device)
    : options_(o), device_(device) {}

void LayerTable::begin(const Json &first) {
    const bool timed = first.contains("time_us"), bounded = first.contains("_pct_of_bound");
    fmt::print(heading_style(), "The linear layers of one decoder layer of {} on {}",
               options_.model, device_.label);
    const std::string times =
        !timed              ? "This device gives no times"
        : device_.simulated ? fmt::format("Times are modelled (sim) at {}, not measured on a card",
                                          clock_text(device_.gfx))
                            : "Times are medians of 21 launches";
    fmt::print("\n{}.\nResults are checked against f64.\n\n", times);
    fmt::print("N x K  outputs x inputs; 4-bit weights in groups of {}\n"
               "type   of the activations; rows: how many of them, one for each token\n",
               options_.group);
    if (timed)
        fmt::print(
            "us     microseconds of a launch, weights cold, code warm; GB/s: of all bytes moved\n");
    if (bounded)
        fmt::print(
            "bound  per cent: the time of these bytes at {:.1f} GB/s, which DRAM sustains, by "
            "the kernel's\n",
            first["_bound_gb_per_s"].get<f64>());
    fmt::print(
        "error  largest, in units of one rounding of the result (ulp): exact rounding has up "
        "to 0.5\n\n");
    const std::string sim = device_.simulated ? "sim us" : "us";
    table_.emplace(
        "layer {layer:<9}; N x K {_size:>11}; type {dtype:<4}; rows {m:>4}" +
        (timed
             ? "; " + sim + " {time_us:>8.1f}" + range_column(options_) + "; GB/s {gb_per_s:>6.1f}"
             : "") +
        (bounded ? "; bound {_pct_of_bound:>5.1f}%" : "") + "; error {max_err:>6.3f}; {_note}");
}

void LayerTable::print(const Json &rows) {
    if (!table_)
        begin(rows.front());
    for (Json row : rows)
        if (row["reference"] == false) {
            row["_note"] = row.contains("_wrong")
                               ? fmt::format("WRONG: {} outputs", row["_wrong"].get<u64>())
                               : "";
            table_->print(row);
        }
}

// " (190.1 to 210.2)" of these rows, whose mean it is, and of draws of the constants; "" without.
static std::string low_to_high(std::span<const Json *const> rows, f64 mean) {
    std::vector<f64> means = means_of_draws(rows, "gb_per_s");
    if (means.empty())
        return "";
    means.push_back(mean);
    const auto [low, high] = std::ranges::minmax(means);
    return fmt::format(" ({:.1f} to {:.1f})", low, high);
}

void LayerTable::summarize(const Json &all) const {
    u64 products = 0, wrong = 0;
    std::vector<f64> rates, percents;
    std::vector<const Json *> timed;
    for (const Json &row : all) {
        wrong += row.contains("_wrong");
        if (row["reference"] == true)
            continue;
        ++products;
        if (row.contains("gb_per_s")) {
            rates.push_back(row["gb_per_s"]);
            timed.push_back(&row);
        }
        if (row.contains("_pct_of_bound"))
            percents.push_back(row["_pct_of_bound"]);
    }
    if (options_.verbose) {
        print_slots(all);
        print_instructions(all);
    }
    std::string text = fmt::format("{} products: ", products);
    if (!rates.empty()) {
        const f64 mean = geometric_mean(rates);
        const std::string range = low_to_high(timed, mean);
        text += fmt::format("geometric mean {:.1f} GB/s{}", mean, range);
        if (!percents.empty())
            text += fmt::format(", {:.1f} % of the bound", geometric_mean(percents));
        text += device_.simulated ? " (sim)" : "";
        text += range.empty() ? "; " : "\n"; // both on a line are too wide
    }
    text += wrong ? fmt::format("{} with WRONG outputs", wrong) : "all outputs correct";
    fmt::print("\n");
    fmt::print(wrong ? bad_style() : heading_style(), "{}", text);
    fmt::print("\n");
}

} // namespace nw::bench
