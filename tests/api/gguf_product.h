// SPDX-License-Identifier: MIT
// A product with GGUF weights for the tests of the C API, and its result in double.
#pragma once
#include <span>

#include "api/product.h"
#include "base/rng.h"

namespace api_test {

// Device memory of 0, as a workspace has to be.
struct Workspace : Memory {
    explicit Workspace(u64 bytes) : Memory(std::vector<u8>(bytes)) {}
};

// For any of these products by that context.
u64 workspace_bytes(nw_context *, int type, u32 m, u32 n, u32 k);

// Normally distributed, with that standard deviation.
std::vector<f32> normal(u64 count, f32 scale, Rng);

// Random blocks of n rows.
std::vector<u8> gguf_weights(int type, u32 n, u32 k, Rng);

// Dot product of one row of x with one of weights, and the error bound of nibblewave.h.
struct GgufSum {
    f64 exact, bound;
};
GgufSum gguf_sum(int type, const float *x, std::span<const u8> row, u32 k);

class GgufProduct {
public:
    GgufProduct(int type, u32 m, u32 n, u32 k, u32 padding = 0, u64 seed = 1);
    // All m rows of activations are `row`.
    GgufProduct(int type, u32 m, u32 n, const std::vector<f32> &row);
    // In that workspace.
    nw_gguf arguments(const Memory &workspace) const;
    void clear();           // c becomes NaN
    bool untouched() const; // since then
    std::vector<float> result() const;
    std::string difference() const; // of c from the exact result; empty where it is right

private:
    // x: [m, k + padding]
    GgufProduct(int type, u32 m, u32 n, u32 k, const std::vector<f32> &x, Rng rng);

    nw_gguf arguments_ = NW_GGUF_INIT;
    std::vector<std::unique_ptr<Memory>> memory_;
    std::vector<f64> exact_, bound_;
};

} // namespace api_test
