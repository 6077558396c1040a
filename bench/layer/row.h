// SPDX-License-Identifier: MIT
// What one kernel did on one shape, and how rows are shown.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"
#include "bench/stats.h"
#include "hip/hip.h"
#include "runtime/registry.h"

namespace nw::bench {

struct Row {
    const Kernel *kernel;
    std::string model, layer;
    Dtype dtype;
    u32 group, m, n, k;
    u64 row_stride;        // bytes, of w
    f64 max_err, mean_err; // see error_unit
    u64 out_of_bound;      // outputs further from the exact result than check::decode_bound
    std::optional<Instructions> instructions;
    f64 time_us = 0, gb_per_s = 0; // 0: neither a card nor a model gave a time

    // VALU slots per 8 weights and lane, whole kernel; a wave instruction has 32 lanes.
    f64 valu_slots_per_8w() const {
        return 32.0 * 8 * static_cast<f64>(instructions->valu_slots()) / (f64{1} * n * k);
    }
};

inline constexpr std::string_view error_unit =
    "max, mean: |C - exact| in units of one rounding of the type (ulp) at the exact result or, "
    "where\n"
    "that is smaller, at the root mean square of its row of C: sums that cancel would look bad in\n"
    "ulps of themselves. Rounding C costs up to 0.5.\n";

// The chosen kernels, one line a layer, dtype and m, with the slots of the older kernels beside.
void print_table(const std::vector<Row> &, const Options &, const hip::DeviceInfo &);

// Every row, one line a kernel, instructions by class in thousands.
void print_details(const std::vector<Row> &);

nlohmann::json to_json(const Row &);

} // namespace nw::bench
