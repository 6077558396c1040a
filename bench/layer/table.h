// SPDX-License-Identifier: MIT
// Rows of one kernel on one shape, and their tables.
#pragma once
#include <optional>

#include "bench/errors.h"
#include "bench/product.h"
#include "bench/result.h"
#include "hip/hip.h"

namespace nw::bench {

// True if rows of the older kernels are shown: for --json and --verbose.
inline bool shows_older(const Options &o) { return o.verbose || !o.json.empty(); }

// _wrong: how many outputs are outside the error bound, where there are any.
Json layer_row(const Kernel &, const ProductShape &, const Errors &,
               const std::optional<Instructions> &);

// The chosen kernels as they are done, a line for each layer, type and number of rows; then a
// summary. With --verbose also registers, slots, slots of the older kernels, and instructions.
class LayerTable {
public:
    LayerTable(const Options &, const hip::DeviceInfo &);
    void print(const Json &rows);
    void summarize(const Json &all) const;

private:
    void begin(const Json &first);
    const Options &options_;
    const hip::DeviceInfo &device_;
    std::optional<Table> table_;
};

} // namespace nw::bench
