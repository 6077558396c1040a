// SPDX-License-Identifier: MIT
// Launches for all tables of the suite attention: shapes, tensors, and the time of a kernel.
#pragma once
#include <string_view>
#include <vector>

#include "base/half.h"
#include "bench/attention/context.h"
#include "bench/data.h"
#include "bench/timing.h"
#include "hip/hip.h"
#include "runtime/modules.h"

namespace nw::bench {

// How k and v are kept.
struct Cache {
    std::string_view kv = "same"; // same: in the type of q; q8_0, fp8
    u32 page = 0;                 // keys, 0: no pages

    u64 row_bytes(u32 d) const { return kv == "q8_0" ? d / 32 * 34 : kv == "fp8" ? d : 2 * d; }
    // Part of a row's name: " kv q8_0 pages of 16"; empty for the defaults.
    std::string words() const;
};

// Causal, of one sequence; heads lie side by side, pages in page_table()'s order. Without
// addresses.
Op attention_op(Dtype, const ContextShape &, const Cache & = {});

// Pages of `keys` keys, in any order; {} without pages.
std::vector<i32> page_table(const Cache &, u32 keys);

// 2^20 values near a standard normal, repeated: logits, and so the number of times that sums are
// rescaled, are realistic.
hip::Buffer normal_values(const hip::Device &, Dtype, u64 elements, u64 seed,
                          std::string_view kv = "same");

// One launch, without the time to load the kernel.
Timed time_launch(const hip::Device &, Modules &, const Kernel &, const Op &);

} // namespace nw::bench
