// SPDX-License-Identifier: MIT
// Experts with GGUF weights and the launches before them, to be timed.
#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "hip/hip.h"
#include "measure/gguf_shape.h"
#include "runtime/launch.h"

namespace nw {

// The kernels of a plan, in their order.
struct GgufMoeKernels {
    const Kernel *convert, *align, *product; // align: null without blocks

    u32 block_size() const { return align ? product->p.bm : 1; } // slots of a block
};

struct GgufMoeShape {
    std::string_view type; // of gguf_types
    u32 tokens, n, k;      // n, k: of an expert
    u32 experts, top_k;    // top_k: slots of a token
    bool own_rows;         // each slot has a row of activations, not each token

    u32 slots() const { return tokens * top_k; }
    u32 slots_per_row() const { return own_rows ? 1 : top_k; }
    u32 rows() const { return own_rows ? slots() : tokens; }
    u64 expert_bytes() const { return n * ggml_row_bytes(type, k); }
    Op op() const; // its sizes
};

// What a plan takes; and by blocks of so many slots, 1: slot by slot.
GgufMoeKernels choose_gguf_moe_kernels(std::string_view gfx, const GgufMoeShape &);
GgufMoeKernels gguf_moe_kernels(std::string_view gfx, const GgufMoeShape &, u32 block_size);

// Bytes of the activations as the product takes them.
u64 gguf_activation_bytes(const GgufMoeKernels &, const GgufMoeShape &);

struct GgufMoeTimes {
    f64 us = 0, convert_us = 0, align_us = 0; // align: of lists; 0 without blocks
};

// Follows the launches of a layer, which come after such of one expert's that is none of these:
// caches have no weights, the part is awake. Of blocks those that have slots are launched: a
// simulated launch is timed by its first workgroups, which would stand for others that end at once.
// routes: slots' experts. Of several runs the medians, each with weights that were not touched for
// long. `launched` is called after each launch, those before the timed ones too.
GgufMoeTimes time_gguf_moe(const hip::Device &, const GgufMoeKernels &, const GgufMoeShape &,
                           std::span<const i32> routes, u32 runs = 1,
                           const std::function<void(const Kernel &)> &launched = {});

} // namespace nw
