// SPDX-License-Identifier: MIT
// Times products of activations that are first quantized to int8, with cold weights, beside
// ColdProduct's of activations in 16 bits.
#pragma once
#include <string_view>

#include "hip/hip.h"
#include "measure/shapes.h"

namespace nw {

// Of quantize_rows and linear_w4a8, those that the library chooses.
struct Int8Kernels {
    const Kernel *rows, *product;
};
// Throws Error where the target has none for such a product, and where its sizes break a rule.
Int8Kernels int8_kernels(std::string_view gfx, const ProductShape &);

// Microseconds from event to event, of each of the two launches.
struct Int8Time {
    f64 rows_us = 0, product_us = 0;

    f64 us() const { return rows_us + product_us; }
};
// On a device as new: activations from DRAM, their int8 values from where quantize_rows left them.
// Throws as int8_kernels() does.
Int8Time int8_time(const hip::Device &, const ProductShape &);

} // namespace nw
