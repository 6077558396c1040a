// SPDX-License-Identifier: MIT
#include "bench/layer/table.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/half.h"

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

void print_chosen(Json rows, bool timed) {
    Json chosen = Json::array();
    for (Json &row : rows)
        if (row["reference"] == false) {
            chosen.push_back(row);
            chosen.back()["_before"] =
                before(rows, row) + (row.contains("_wrong")
                                         ? fmt::format("  WRONG: {}", row["_wrong"].get<u64>())
                                         : "");
        }
    const std::string columns =
        fmt::format("{}{}{}",
                    "layer {layer:<9}; N x K {_size:>11}; type {dtype:<4}; m {m}; "
                    "dequant {_dequant:<9}; max {max_err:>6.3f}; mean {mean_err:>6.3f}; |; "
                    "vopd {_vopd:>5.0f}; valu {_valu:>5.0f}; vmem {_vmem:>5.0f}; "
                    "lds {_lds:>5.0f}; scalar {_scalar:>6.0f}; wait {_wait:>5.0f}; |; ",
                    timed ? "us {time_us:>7.1f}; GB/s {gb_per_s:>6.1f}; |; " : "",
                    "slots {valu_slots_per_8w:>5.2f}; before {_before}");
    print_table(columns, chosen);
}

void print_details(Json rows) {
    std::string columns = "kernel {kernel:<38}; N x K {_size:>12}; vgprs {vgprs:>5}; "
                          "slots {valu_slots_per_8w:>6.2f}; max {max_err:>6.3f}; "
                          "mean {mean_err:>6.3f}";
    for (std::string_view c : instruction_classes)
        columns += fmt::format("; {} {{{}:>{}.0f}}", c, key_of(c), std::max<u64>(6, c.size()));
    columns += "; {_note}";
    for (Json &row : rows)
        row["_note"] = row.contains("_wrong")
                           ? fmt::format(" WRONG: {} outputs", row["_wrong"].get<u64>())
                           : "";
    fmt::print("\n");
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
    const auto add = [&](const std::string &key, std::initializer_list<std::string_view> classes) {
        u64 sum = 0;
        for (std::string_view c : classes)
            sum += counts->of(c);
        row[key] = static_cast<f64>(sum) / 1000;
    };
    for (std::string_view c : instruction_classes) {
        row["insts"][std::string(c)] = counts->of(c);
        add(key_of(c), {c});
    }
    row["insts"]["total"] = counts->total();
    add("_vopd", {"vopd"});
    add("_valu", {"valu", "trans", "wmma"});
    add("_vmem", {"vmem_load", "vmem_store"});
    add("_lds", {"lds"});
    add("_scalar", {"salu", "smem", "branch", "other"});
    add("_wait", {"wait"});
    return row;
}

void print_layers(const Json &rows, const Options &o, const hip::DeviceInfo &device) {
    const bool timed =
        std::ranges::any_of(rows, [](const Json &row) { return row.contains("time_us"); });
    fmt::print("{} decoder layer, int4 weights in groups of {}, on {}\n\n", o.model, o.group,
               device.label);
    print_chosen(rows, timed);
    const std::string part =
        o.before_rows ? fmt::format(" (first {} rows of a layer)", o.before_rows) : "";
    const std::string times = timed ? fmt::format(" us, GB/s: {}.", device.label)
                                    : fmt::format(" No times: {} gave none.", device.label);
    fmt::print(
        "\nvopd to wait: wave instructions in thousands; vopd are pairs, scalar is salu, smem,\n"
        "branch and the rest. slots: VALU issue slots per 8 weights and lane, a pair is one;\n"
        "before: the same of older methods to dequantize{}.{}\n{}",
        part, times, error_unit);
    if (o.verbose)
        print_details(rows);
}

} // namespace nw::bench
