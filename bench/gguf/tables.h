// SPDX-License-Identifier: MIT
// The tables of the suite gguf. Each prints its rows, which may be none.
#pragma once
#include "base/pattern.h"
#include "bench/part.h"
#include "bench/product.h"
#include "bench/result.h"

namespace nw::bench {

inline constexpr u32 many_rows = 33; // of activations: from here on tables of their own

// "MODEL LAYER NxK TYPE mM"
std::string name(const LinearShape &, const GgufShape &);
// Common keys of rows of these products: layer, kernel and shape.
Json to_json(const LinearShape &, const GgufJob &, const Timed &);

// Table fp8: times of a product in fp8 and in f16, and of the launches before each.
struct Fp8Gain {
    f64 operations;
    f64 us, before_us;
    const Kernel &f16_kernel;
    f64 f16_us, f16_before_us;
};
Json to_json(const Fp8Gain &, const Peak &fp8);

using Layers = std::vector<const LinearShape *>;

// Products of few rows of activations, and of 33 and more beside WMMA's peak.
Json gguf_products(const Options &, const Layers &, const std::string &gfx);
Json gguf_prefill(const Options &, const Layers &, const std::string &gfx);
// Products of many rows of activations in fp8 beside those in f16.
Json gguf_fp8(const Options &, const Layers &, const std::string &gfx);
// The same for experts of many tokens.
Json gguf_fp8_moe(const Options &, const Shapes &, const std::string &gfx);
// Expert layers, slot by slot and in blocks of one expert.
Json gguf_moe(const Options &, const Shapes &, const std::string &gfx);
// Products by every candidate kernel: which is the fastest, and where they cross.
Json gguf_crossover(const Options &, const Shapes &);

} // namespace nw::bench
