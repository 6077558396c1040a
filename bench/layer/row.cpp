// SPDX-License-Identifier: MIT
#include "bench/layer/row.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/half.h"

namespace nw::bench {

namespace {

std::string slots(const Row &r) {
    return r.instructions ? fmt::format("{:.2f}", r.valu_slots_per_8w()) : "-";
}

std::string thousands(const Row &r, std::initializer_list<std::string_view> classes) {
    if (!r.instructions)
        return "-";
    u64 sum = 0;
    for (std::string_view c : classes)
        sum += r.instructions->of(c);
    return fmt::format("{:.0f}", static_cast<f64>(sum) / 1000);
}

bool same_product(const Row &a, const Row &b) {
    return a.layer == b.layer && a.dtype == b.dtype && a.m == b.m;
}

// "f32 71.4, magic 18.3": the slots of the older ways.
std::string before(const std::vector<Row> &rows, const Row &chosen) {
    std::string out;
    for (const Row &r : rows)
        if (r.kernel->reference && same_product(r, chosen))
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ", r.kernel->param("dequant"),
                               slots(r));
    return out.empty() ? "-" : out;
}

void print_legend(const Options &o, const hip::DeviceInfo &device, bool timed) {
    const std::string part =
        o.before_rows ? fmt::format(" (first {} rows of a layer)", o.before_rows) : "";
    const std::string times = timed ? fmt::format(" us, GB/s: {}.", device.label)
                                    : fmt::format(" No times: {} gave none.", device.label);
    fmt::print(
        "\nvopd to wait: wave instructions in thousands; vopd are pairs, scalar is salu, smem,\n"
        "branch and the rest. slots: VALU issue slots per 8 weights and lane, a pair is one;\n"
        "before: the same of older ways to dequantize{}.{}\n{}",
        part, times, error_unit);
}

} // namespace

void print_table(const std::vector<Row> &rows, const Options &o, const hip::DeviceInfo &device) {
    const bool timed = std::ranges::any_of(rows, [](const Row &r) { return r.time_us > 0; });
    fmt::print("{} decoder layer, int4 weights in groups of {}, on {}\n\n", o.model, o.group,
               device.label);
    fmt::print(
        "{:<9} {:>11} {:<4} {} {:<9} {:>6} {:>6} |{:>6}{:>6}{:>6}{:>6}{:>7}{:>6} |{}{:>6} {}\n",
        "layer", "N x K", "type", "m", "dequant", "max", "mean", "vopd", "valu", "vmem", "lds",
        "scalar", "wait", timed ? "      us   GB/s |" : "", "slots", "before");
    for (const Row &r : rows) {
        if (r.kernel->reference)
            continue;
        fmt::print(
            "{:<9} {:>11} {:<4} {} {:<9} {:>6.3f} {:>6.3f} |{:>6}{:>6}{:>6}{:>6}{:>7}{:>6} |",
            r.layer, fmt::format("{}x{}", r.n, r.k), name(r.dtype), r.m, r.kernel->param("dequant"),
            r.max_err, r.mean_err, thousands(r, {"vopd"}), thousands(r, {"valu", "trans", "wmma"}),
            thousands(r, {"vmem_load", "vmem_store"}), thousands(r, {"lds"}),
            thousands(r, {"salu", "smem", "branch", "other"}), thousands(r, {"wait"}));
        if (r.time_us > 0)
            fmt::print("{:>8.1f} {:>6.1f} |", r.time_us, r.gb_per_s);
        fmt::print("{:>6} {}{}\n", slots(r), before(rows, r),
                   r.out_of_bound ? fmt::format("  WRONG: {}", r.out_of_bound) : "");
    }
    print_legend(o, device, timed);
}

void print_details(const std::vector<Row> &rows) {
    fmt::print("\n{:<38} {:>12} {:>5} {:>6} {:>6} {:>6}", "kernel", "N x K", "vgprs", "slots",
               "max", "mean");
    for (std::string_view c : instruction_classes)
        fmt::print(" {:>{}}", c, std::max<u64>(6, c.size()));
    fmt::print("\n");
    for (const Row &r : rows) {
        fmt::print("{:<38} {:>12} {:>5} {:>6} {:>6.3f} {:>6.3f}", r.kernel->symbol,
                   fmt::format("{}x{}", r.n, r.k), r.kernel->vgprs, slots(r), r.max_err,
                   r.mean_err);
        for (std::string_view c : instruction_classes)
            fmt::print(" {:>{}}", thousands(r, {c}), std::max<u64>(6, c.size()));
        fmt::print("{}\n",
                   r.out_of_bound ? fmt::format("  WRONG: {} outputs", r.out_of_bound) : "");
    }
}

nlohmann::json to_json(const Row &r) {
    nlohmann::json j = {{"kernel", r.kernel->symbol},
                        {"gfx", r.kernel->gfx},
                        {"model", r.model},
                        {"layer", r.layer},
                        {"dtype", name(r.dtype)},
                        {"group", r.group},
                        {"m", r.m},
                        {"n", r.n},
                        {"k", r.k},
                        {"row_stride", r.row_stride},
                        {"vgprs", r.kernel->vgprs},
                        {"lds_bytes", r.kernel->lds_bytes},
                        {"waves_per_simd", r.kernel->waves_per_simd},
                        {"reference", r.kernel->reference},
                        {"max_err", r.max_err},
                        {"mean_err", r.mean_err}};
    if (r.instructions) {
        j["valu_slots_per_8w"] = r.valu_slots_per_8w();
        for (u64 i = 0; i < instruction_classes.size(); ++i)
            j["insts"][std::string(instruction_classes[i])] = r.instructions->count[i];
        j["insts"]["total"] = r.instructions->total();
    }
    if (r.time_us > 0) {
        j["time_us"] = r.time_us;
        j["gb_per_s"] = r.gb_per_s;
    }
    return j;
}

} // namespace nw::bench
