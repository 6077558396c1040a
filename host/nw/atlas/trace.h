// SPDX-License-Identifier: MIT
// A kernel trace in CSV, as rocprofv3 (or rocprof of older ROCm) writes it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace nw::cli {

// All dispatches of one kernel.
struct TraceKernel {
    std::string name; // without the ".kd" of the symbol of its descriptor
    u64 calls = 0, total_ns = 0, min_ns = ~u64{0}, max_ns = 0;
    u64 grids = 0; // different ones
    // As the trace has them for its first dispatch; empty where it has no such column.
    std::optional<u64> workgroup, vgprs, sgprs, lds_bytes, scratch_bytes;
};

struct Trace {
    std::vector<TraceKernel> kernels; // those with most time first
    u64 calls = 0, total_ns = 0;
};

// Throws Error naming file and line, the value and the rule. Cells may be quoted, lines end in LF
// or CRLF; columns are found by name, in any order.
Trace read_trace(std::string_view csv, const std::string &file);

} // namespace nw::cli
