// SPDX-License-Identifier: MIT
// Products of many tokens timed on a simulated part.
#pragma once
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "base/half.h"
#include "bench/published.h"
#include "bench/stats.h"
#include "runtime/choice.h"

namespace nw::bench {

inline constexpr u32 prefill_group = 128;

// A product of many tokens, and the kernel that does it.
struct PrefillJob {
    PublishedPrefill shape;
    u32 m;
    Dtype dtype;
    Zeros zeros;
    const Kernel *kernel;

    std::string_view zeros_label() const {
        return zeros == Zeros::eight ? "sym" : zeros_name(zeros);
    }
    std::string tile() const {
        return fmt::format("{}x{}", kernel->number("bm"), kernel->number("bn"));
    }
    std::string size() const { return fmt::format("{}x{}", shape.k, shape.n); }
    std::string type() const { return fmt::format("{} {} m{}", nw::name(dtype), zeros_label(), m); }
    std::string name() const { return size() + " " + type(); }
    f64 tera_operations() const { return 2e-12 * m * shape.n * shape.k; }
};

struct PrefillTime {
    f64 us = 0;
    u64 valu = 0, wmma = 0; // wave instructions
    Busy busy;
    f64 tflops(const PrefillJob &job) const { return job.tera_operations() / (us * 1e-6); }
};

// Call it before a device is opened.
std::vector<PrefillTime> time_prefill(const std::vector<PrefillJob> &);

} // namespace nw::bench
