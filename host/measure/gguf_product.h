// SPDX-License-Identifier: MIT
// One product with GGUF weights and the launch that makes its activations, to be timed.
#pragma once
#include <array>
#include <functional>
#include <string_view>

#include "hip/hip.h"
#include "runtime/gguf.h"
#include "runtime/modules.h"

namespace nw {

// Of bench/shapes.csv, what is timed.
inline constexpr std::array<std::string_view, 3> gguf_models = {"Qwen3.6-27B", "Llama-3.1-8B",
                                                                "Qwen3-30B-A3B"};

// Of a product, and of its activations.
struct GgufKernels {
    const Kernel *product = nullptr, *convert = nullptr; // null where it takes several launches

    explicit operator bool() const { return product && convert; }
    bool mid() const { return product->family == "gguf_mid"; }
    bool prefill() const { return product->family == "gguf_prefill"; }
    bool wmma() const { return mid() || prefill(); } // of activations in f16
};
// What gguf_linear takes, or, if that is in slices, the default.
GgufKernels choose_gguf_kernels(std::string_view gfx, const GgufShape &);

// Bytes of the activations as the product takes them.
u64 gguf_activation_bytes(const GgufKernels &, const GgufShape &);
// Bytes of LDS that a launch of the product asks for besides the kernel's own.
u32 gguf_dynamic_lds(const GgufKernels &, const GgufShape &, u32 wgps);

// Its operands on a device, all 0, and its two launches.
class GgufProduct {
public:
    // With so many rows of weights, n or more, of which a launch takes some.
    GgufProduct(const hip::Device &, const GgufKernels &, const GgufShape &, u64 rows);

    void convert();
    // By so many rows of the weights, the first left out.
    void multiply(u64 first, u32 rows);

private:
    u32 share(u32 rows) const;

    const GgufKernels kernels_;
    const GgufShape shape_;
    Modules modules_;
    const u32 wgps_;
    hip::Buffer w_, x_, a_, c_, parts_, arrived_;
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
