// SPDX-License-Identifier: MIT
// What one kernel did on one shape, and how that is shown.
#pragma once
#include <optional>

#include "bench/errors.h"
#include "bench/product.h"
#include "bench/result.h"
#include "hip/hip.h"

namespace nw::bench {

// Whether the options want rows of the older kernels: for the JSON and for --verbose.
inline bool shows_older(const Options &o) { return o.verbose || !o.json.empty(); }

// _wrong: how many outputs are outside the error bound, where there are any.
Json layer_row(const Kernel &, const ProductShape &, const Errors &,
               const std::optional<Instructions> &);

// The chosen kernels, one line a layer, type and number of rows, as they come; at the end a line of
// all. With --verbose, then, registers, slots and those of the older kernels, and instructions.
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
