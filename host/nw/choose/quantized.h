// SPDX-License-Identifier: MIT
// nw choose --int8-activations and --fp8-activations: the product of activations that are first
// quantized to 8 bits, beside the one that is chosen without.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "measure/quantized_product.h"

namespace nw::cli {

struct Quantization {
    std::string_view name;    // of the flag, and the key in JSON
    std::string_view error;   // of an activation
    std::string_view without; // description of the other product
};
inline constexpr Quantization int8_activations = {
    "int8", "of an activation at most 1/254 of the largest of its row", "activations in 16 bits"};
inline constexpr Quantization fp8_activations = {
    "fp8", "of an activation (e4m3) less than 1/16 of it + 2^-18 of the largest of its row",
    "nw_gguf_linear"};
inline constexpr Quantization fp8_experts_activations = {
    fp8_activations.name, fp8_activations.error, "nw_gguf_moe_linear"};

struct QuantizedChoice {
    Quantization to;
    const Kernel *other = nullptr; // for activations that are not quantized so
    QuantizedKernels kernels{};
    QuantizedTime time{};
    f64 other_us = 0;
    std::string refused; // why there is no such product; kernels and times are then empty

    bool is_faster() const { return refused.empty() && time.us() < other_us; }
};

// Both timed now on the model, weights cold and kernels as new; `op`: what `other` is chosen for.
QuantizedChoice choose_quantized(std::string_view gfx, const Quantization &,
                                 const QuantizedProduct &, const Op &op, const Kernel &other);
// The same for experts: `routes` has each slot's expert. Times include the launches before.
QuantizedChoice choose_quantized(std::string_view gfx, const Quantization &,
                                 const QuantizedProduct &, const Op &op, const Kernel &other,
                                 std::span<const i32> routes);

// Rows after "for", where it is the faster one; after all others, where it is not.
void print(const QuantizedChoice &);
nlohmann::json to_json(const QuantizedChoice &);

} // namespace nw::cli
