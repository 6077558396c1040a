// SPDX-License-Identifier: MIT
// nw choose experts --gguf: the kernels of a mixture of experts with GGUF weights.
#pragma once
#include <string>

#include "base/types.h"

namespace nw::cli {

struct GgufExpertsOptions {
    std::string gfx, type;
    u32 tokens = 1, experts = 0, top_k = 1, n = 0, k = 0;
    bool own_rows = false, fp8 = false, json = false, verbose = false;
};

// Prints the choice, and with `fp8` also times the product of activations in fp8 and takes it where
// it is faster.
void choose_gguf_experts(const GgufExpertsOptions &);

} // namespace nw::cli
