// SPDX-License-Identifier: MIT
// One product with GGUF weights and the launch that makes its activations, to be timed.
#pragma once
#include <functional>
#include <string_view>

#include "hip/hip.h"
#include "measure/gguf_shape.h"
#include "runtime/launch.h"

namespace nw {

// Of a product, and of its activations.
struct GgufKernels {
    const Kernel *product = nullptr, *convert = nullptr; // null where it takes several launches

    explicit operator bool() const { return product && convert; }
};
// What a plan takes, or, if that is in slices, the cheapest kernel.
GgufKernels choose_gguf_kernels(std::string_view gfx, const GgufShape &);

// Bytes of the activations as the product takes them.
u64 gguf_activation_bytes(const GgufKernels &, const GgufShape &);
// Bytes of LDS that a launch asks for besides the kernel's own.
u32 dynamic_lds_of(const Kernel &, Op, u32 wgps);

// Its operands on a device, all 0, and its two launches.
class GgufProduct {
public:
    // With so many rows of weights, n or more, of which a launch takes some.
    GgufProduct(const hip::Device &, const GgufKernels &, const GgufShape &, u64 rows);

    void convert();
    // By so many rows of the weights, the first left out.
    void multiply(u64 first, u32 rows);

private:
    const GgufKernels kernels_;
    const GgufShape shape_;
    Modules modules_;
    const Machine machine_;
    hip::Buffer w_, x_, a_, c_;
    std::vector<hip::Buffer> scratch_; // as the contract has them
    Op op_;                            // of all rows
};

struct GgufTimes {
    f64 us = 0, convert_us = 0;
};

// Follows a launch of all rows of weights, which comes after one of few rows of others: caches have
// none of these, the part is awake. Of several runs the medians, each with weights that were not
// touched for long. `launched` is called after each launch, those before the timed ones too.
GgufTimes time_gguf_product(const hip::Device &, const GgufKernels &, const GgufShape &,
                            u32 runs = 1, const std::function<void(const Kernel &)> &launched = {});

} // namespace nw
