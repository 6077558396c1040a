// SPDX-License-Identifier: MIT
// Products timed on simulated parts, weights cold: the one place where suites of modelled times
// launch kernels. Each product has a device as new, and all cores are at work.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "bench/stats.h"
#include "measure/cold_product.h"
#include "measure/gguf_moe_product.h"
#include "measure/gguf_product.h"

namespace nw::bench {

struct Timed {
    f64 us = 0;
    f64 before_us = 0;  // launches before the product's: of activations, and lists of experts
    LaunchStats launch; // of the product
};

// W4A16 products, by a kernel each.
struct DenseJob {
    ProductShape shape;
    const Kernel *kernel = nullptr;
    Workgroups workgroups = Workgroups::stay;
    std::string model, layer;
};

// One row of weights for warmth: code is where later launches find it. None: a part as new.
enum class Warm { yes, no };
std::vector<Timed> time_dense(const std::vector<DenseJob> &, Warm = Warm::yes);

// Counts of a launch of the product, on a device with the setting stats=on.
Instructions count_dense(const hip::Device &, LaunchCounts &stats, const Kernel &,
                         const ProductShape &);

// Products with GGUF weights: of few rows; of many, without warmth; and by one kernel, with all
// launches in `us`.
struct GgufJob {
    GgufShape shape;
    GgufKernels kernels;
};
std::vector<Timed> time_gguf(const std::vector<GgufJob> &);
std::vector<Timed> time_gguf_prefill(const std::vector<GgufJob> &);
std::vector<Timed> time_gguf_ways(const std::vector<GgufJob> &);

// Experts with GGUF weights: block_size 1 is slot by slot; routes are slots' experts.
struct GgufMoeJob {
    std::string gfx;
    GgufMoeShape shape;
    u32 block_size;
    std::vector<i32> routes;
};
std::vector<Timed> time_gguf_moe(const std::vector<GgufMoeJob> &);

} // namespace nw::bench
