// SPDX-License-Identifier: MIT
// Times products with GGUF weights by any of their kernels, from f32 activations to
// the result: weights from memory that was not touched for long (measure/cold_product.h),
// everything else as the launch before left it.
#pragma once
#include <filesystem>
#include <span>

#include "hip/hip.h"
#include "measure/cold_product.h"
#include "measure/gguf_shape.h"

namespace nw {

class ColdGguf {
public:
    // For `products` of these, or any number, by kernels of that directory (find_code_object).
    ColdGguf(const hip::Device &, std::span<const GgufShape>, u64 products = ~u64{0},
             const std::filesystem::path &kernels = {});

    // Microseconds between two events around all launches of a plan by that kernel. Throws Error
    // where it is not for such a shape.
    f64 us(const Kernel &, const GgufShape &);

private:
    Plan plan_of(const Kernel &, const GgufShape &) const;
    void queue(const Kernel &, const GgufShape &);

    const hip::Device &device_;
    Modules modules_;
    hip::Event start_, stop_;
    hip::Buffer x_, c_, workspace_;
    Rotation weights_;
};

} // namespace nw
