// SPDX-License-Identifier: MIT
// Times products whose activations are first quantized to 8 bits, with cold weights; ColdProduct
// times 16-bit activations.
#pragma once
#include <span>
#include <string_view>

#include "hip/hip.h"
#include "measure/shapes.h"

namespace nw {

// Sizes and strides of the launch that quantizes activations and of the product of these.
struct QuantizedProduct {
    Op rows, product;
};
QuantizedProduct int8_product(const ProductShape &);
// For f16 activations.
QuantizedProduct fp8_product(const GgufShape &);
QuantizedProduct fp8_experts(const GgufMoeShape &);

// The kernels that the library chooses.
struct QuantizedKernels {
    const Kernel *rows, *product;
};
// Throws Error if the target has none for such a product, or if its sizes break a rule.
QuantizedKernels quantized_kernels(std::string_view gfx, const QuantizedProduct &);

// Microseconds between events around each of the two launches.
struct QuantizedTime {
    f64 rows_us = 0, product_us = 0;

    f64 us() const { return rows_us + product_us; }
};
// On a cold device: activations come from DRAM, their 8-bit form from the caches that the first
// launch filled. Throws as quantized_kernels() does.
QuantizedTime quantized_time(const hip::Device &, const QuantizedProduct &);
// The same for experts; `routes` has the expert of each slot, product_us includes the lists.
QuantizedTime quantized_time(const hip::Device &, const QuantizedProduct &,
                             std::span<const i32> routes);

} // namespace nw
