// SPDX-License-Identifier: MIT
// Products timed on simulated parts, weights cold: the one place where suites of modelled times
// launch kernels. Each product has a new device; all cores are used.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/stats.h"
#include "measure/cold_product.h"
#include "measure/launch_times.h"

namespace nw::bench {

struct Timed {
    f64 us = 0;
    f64 before_us = 0;  // launches before the product's: of activations, and lists of experts
    LaunchStats launch; // of the product
    DrawnTime drawn;    // us with error bars, if draws are on
};

// Called for each job in order, as soon as it and all before it are timed.
using Done = std::function<void(u64 job, const Timed &)>;

// A W4A16 product and its kernel.
struct DenseJob {
    ProductShape shape;
    const Kernel *kernel = nullptr;
    Workgroups workgroups = Workgroups::stay;
    std::string model, layer;
};

std::vector<Timed> time_dense(const std::vector<DenseJob> &, const Done & = {}, Warm = Warm::yes);
// The same products with int8 activations, by the kernels that the library chooses, on cold
// devices: before_us is of quantize_rows, us of both.
std::vector<Timed> time_int8(const std::vector<DenseJob> &, const Done & = {});

// Counts of a launch of the product, on a device with the setting stats=on.
Instructions count_dense(const hip::Device &, LaunchCounts &stats, const Kernel &,
                         const ProductShape &);

// Products with GGUF weights: few rows; many rows, cold; and one kernel's plan, with all launches
// in `us`.
struct GgufJob {
    GgufShape shape;
    const Kernel *kernel;
};
std::vector<Timed> time_gguf(const std::vector<GgufJob> &, const Done &);
std::vector<Timed> time_gguf_prefill(const std::vector<GgufJob> &, const Done & = {});
// The same products with fp8 activations, by the kernels that the library chooses, on cold devices:
// before_us is of quantize_fp8, us of both.
std::vector<Timed> time_fp8(const std::vector<GgufJob> &, const Done & = {});
std::vector<Timed> time_gguf_plans(const std::vector<GgufJob> &, const Done &);

// Experts with GGUF weights; routes are slots' experts.
struct GgufMoeJob {
    GgufMoeShape shape;
    const Kernel *kernel;
    std::vector<i32> routes;
};
std::vector<Timed> time_gguf_moe(const std::vector<GgufMoeJob> &, const Done & = {},
                                 Warm = Warm::yes);
// The same products with fp8 activations, as time_fp8(): before_us is of quantize_fp8 and lists, us
// of the product.
std::vector<Timed> time_fp8_moe(const std::vector<GgufMoeJob> &, const Done & = {});

} // namespace nw::bench
