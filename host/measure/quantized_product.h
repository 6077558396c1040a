// SPDX-License-Identifier: MIT
// Times products of activations that are first quantized to 8 bits, with cold weights, beside
// ColdProduct's of activations that are not.
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
// Of f16 activations.
QuantizedProduct fp8_product(const GgufShape &);
QuantizedProduct fp8_experts(const GgufMoeShape &);

// Those that the library chooses.
struct QuantizedKernels {
    const Kernel *rows, *product;
};
// Throws Error where the target has none for such a product, and where its sizes break a rule.
QuantizedKernels quantized_kernels(std::string_view gfx, const QuantizedProduct &);

// Microseconds from event to event, of each of the two launches.
struct QuantizedTime {
    f64 rows_us = 0, product_us = 0;

    f64 us() const { return rows_us + product_us; }
};
// On a device as new: activations from DRAM, their 8 bits from where the first launch left them.
// Throws as quantized_kernels() does.
QuantizedTime quantized_time(const hip::Device &, const QuantizedProduct &);
// The same of experts, slots' experts as given; product_us with the lists of slots.
QuantizedTime quantized_time(const hip::Device &, const QuantizedProduct &,
                             std::span<const i32> routes);

} // namespace nw
