// SPDX-License-Identifier: MIT
// Ops in tests' notation, with typed pointers and names; and queries of contracts.
#pragma once
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/gguf/gguf_types.h"
#include "runtime/launch.h"
#include "runtime/w4a16.h"

namespace nw {

inline constexpr std::array<u32, 7> moe_block_sizes = {1, 2, 4, 8, 16, 32, 64};
inline constexpr u32 mid_rows = 64; // the most rows of a that mid_w4a16 is chosen for untuned
inline constexpr u32 q8_tile_k = 1024, q8_tile_bytes = 1152; // asm/quantize_q8
inline constexpr u64 gguf_counters_bytes = 65536 * 4;        // asm/ops/linear_gguf: of a workspace

// A product with 4-bit weights (asm/lib/w4a16.toml).
struct W4A16 {
    Dtype dtype;
    u32 m, n, k;
    u64 group;
    const void *a, *w, *s, *bias;
    void *c;
    u64 w_stride, s_stride;
    Zeros zeros = Zeros::eight;
    const void *z = nullptr;
    u64 z_stride = 0;
    bool silu_gate_up = false;

    operator Op() const {
        Op op = linear_w4a16(dtype, group, zeros, m, n, k);
        op.a = address(a), op.w = address(w), op.s = address(s), op.z = address(z);
        op.bias = address(bias), op.c = address(c);
        op.w_stride = w_stride, op.s_stride = s_stride, op.z_stride = z_stride;
        op.silu = silu_gate_up;
        return op;
    }
};

// Activations in the order of a list (asm/permute_a).
struct PermuteA {
    u32 m, k;
    const void *a, *perm;
    void *y;

    operator Op() const {
        Op op{.kind = OpKind::permute_a};
        op.m = m, op.k = k;
        op.a = address(a), op.perm = address(perm), op.y = address(y);
        return op;
    }
};

// A mixture of experts with 4-bit weights (asm/lib/moe_w4a16.toml).
struct MoeW4A16 {
    Dtype dtype;
    u32 n, k, group, experts, block_size, blocks, slots, top_k;
    bool silu_gate_up;
    const void *a, *w, *s, *bias;
    void *c;
    const void *expert_ids, *sorted_token_ids, *topk_weights, *num_tokens_post_padded;
    u64 w_stride, w_expert, s_stride, s_expert;
    Zeros zeros = Zeros::eight;
    const void *z = nullptr;
    u64 z_stride = 0, z_expert = 0;

    operator Op() const {
        Op op{.kind = OpKind::moe_w4a16};
        op.dtype = word_of(dtype), op.zeros = word_of(zeros);
        op.n = n, op.k = k, op.group = group;
        op.experts = experts, op.block_size = block_size, op.blocks = blocks;
        op.slots = slots, op.top_k = top_k, op.silu = silu_gate_up;
        op.a = address(a), op.w = address(w), op.s = address(s), op.z = address(z);
        op.bias = address(bias), op.c = address(c);
        op.expert_ids = address(expert_ids), op.sorted_token_ids = address(sorted_token_ids);
        op.topk_weights = address(topk_weights);
        op.num_tokens_post_padded = address(num_tokens_post_padded);
        op.w_stride = w_stride, op.s_stride = s_stride, op.z_stride = z_stride;
        op.w_expert = w_expert, op.s_expert = s_expert, op.z_expert = z_expert;
        return op;
    }
};

struct MoeAlign {
    u32 slots, experts, block_size, blocks;
    const void *topk_ids;
    void *sorted_token_ids, *expert_ids, *num_tokens_post_padded;

    operator Op() const {
        Op op{.kind = OpKind::moe_align};
        op.slots = slots, op.experts = experts, op.block_size = block_size, op.blocks = blocks;
        op.topk_ids = address(topk_ids), op.sorted_token_ids = address(sorted_token_ids);
        op.expert_ids = address(expert_ids);
        op.num_tokens_post_padded = address(num_tokens_post_padded);
        return op;
    }
};

struct CarrierW4A16 {
    Dtype dtype;
    u32 n, k;
    u64 group;
    const void *s, *z;
    void *carrier;
    u64 s_stride, z_stride, carrier_stride;

    operator Op() const {
        Op op{.kind = OpKind::carriers};
        op.dtype = word_of(dtype);
        op.n = n, op.k = k, op.group = group;
        op.s = address(s), op.z = address(z), op.carrier = address(carrier);
        op.s_stride = s_stride, op.z_stride = z_stride, op.carrier_stride = carrier_stride;
        return op;
    }
};

// zeros: "sym" or "zp" (asm/splitk_w4a16).
struct SplitK {
    Dtype dtype;
    u32 m, n, k, group;
    std::string_view zeros;
    const void *a, *w, *s, *z;
    void *c;
    u64 w_stride, s_stride;
    u32 groups, waves;

    operator Op() const {
        Op op{.kind = OpKind::splitk_w4a16};
        op.dtype = word_of(dtype), op.zeros = find_word(zeros);
        op.m = m, op.n = n, op.k = k, op.group = group;
        op.a = address(a), op.w = address(w), op.s = address(s), op.z = address(z);
        op.c = address(c);
        op.w_stride = w_stride, op.s_stride = s_stride;
        op.groups = groups, op.waves = waves;
        return op;
    }
};

// Activations for products with GGUF weights.
struct Converted {
    u32 m, k;
    const void *x;
    u64 x_stride;
    void *y;
    bool by_row = false, at_end = false;

    Op op(OpKind kind) const {
        Op out{.kind = kind};
        out.m = m, out.k = k, out.by_row = by_row, out.at_end = at_end;
        out.x = address(x), out.x_stride = x_stride, out.y = address(y);
        return out;
    }
};
struct QuantizeQ8 : Converted {
    operator Op() const { return op(OpKind::quantize_q8); }
};
struct GgufHalves : Converted {
    operator Op() const { return op(OpKind::gguf_halves); }
};

// One launch of gguf_decode, gguf_mid or gguf_prefill, of activations that are converted. What a
// caller may choose is set in the Op.
struct GgufLaunch {
    std::string_view type;
    u32 m, n, k;
    const void *a, *w;
    void *c;
    void *parts = nullptr, *arrived = nullptr; // gguf_mid's

    operator Op() const {
        Op op = linear_gguf(type, m, n, k);
        op.a = address(a), op.w = address(w), op.c = address(c);
        op.parts = address(parts), op.arrived = address(arrived);
        return op;
    }
};

// A whole product with GGUF weights, of any number of launches.
struct GgufLinear {
    std::string_view type;
    u32 m, n, k;
    const void *x;
    u64 x_stride;
    const void *w;
    void *c, *workspace;
    u64 workspace_bytes;

    operator Op() const {
        Op op = linear_gguf(type, m, n, k);
        op.x = address(x), op.x_stride = x_stride, op.w = address(w), op.c = address(c);
        op.workspace = address(workspace), op.workspace_bytes = workspace_bytes;
        return op;
    }
};

// One launch of gguf_moe_decode, gguf_moe_mid or gguf_moe_prefill.
struct GgufExperts {
    std::string_view type;
    u32 n, k, experts, slots, top_k;
    const void *w;
    u64 w_expert;
    void *c;
    const void *a = nullptr, *expert_ids = nullptr;
    u32 blocks = 0;
    const void *slot_ids = nullptr;

    operator Op() const {
        Op op{.kind = OpKind::moe_gguf};
        op.type = find_word(type);
        op.n = n, op.k = k, op.experts = experts, op.slots = slots, op.top_k = top_k;
        op.w = address(w), op.w_expert = w_expert, op.c = address(c), op.a = address(a);
        op.expert_ids = address(expert_ids), op.slot_ids = address(slot_ids);
        if (blocks)
            op.blocks = blocks;
        return op;
    }
};

namespace check {

// The first kernel of a family that is chosen by default and has these parameters, as text; null if
// there is none.
using Parameter = std::pair<std::string_view, std::string_view>;
inline const Kernel *find_default(std::string_view family, std::string_view gfx,
                                  std::initializer_list<Parameter> parameters = {}) {
    const auto found = std::ranges::find_if(kernels(gfx), [&](const Kernel &k) {
        return k.family == family && !k.reference && !k.candidate &&
               std::ranges::all_of(
                   parameters, [&](const Parameter &p) { return k.param(p.first) == p.second; });
    });
    return found == kernels(gfx).end() ? nullptr : &*found;
}
inline const Kernel &default_of(std::string_view family, std::string_view gfx,
                                std::initializer_list<Parameter> parameters = {}) {
    if (const Kernel *kernel = find_default(family, gfx, parameters))
        return *kernel;
    throw Error(fmt::format("{}: gfx = {}: no such kernel", family, gfx));
}

// The default of the family whose parameters equal the op's; null where there is none.
inline const Kernel *find_for(std::string_view family, std::string_view gfx, const Op &op) {
    const auto found = std::ranges::find_if(kernels(gfx), [&](const Kernel &k) {
        return k.family == family && !k.reference && !k.candidate &&
               std::ranges::all_of(k.contract->match, [&](const Match &match) {
                   return op.*match.op == k.p.*match.parameter;
               });
    });
    return found == kernels(gfx).end() ? nullptr : &*found;
}

// Sets arguments that are derived from others, and the contract's defaults.
inline Op derived(const Kernel &kernel, Op op, const Machine &machine) {
    kernel.contract->derive(op, kernel, machine);
    return op;
}

// Bytes of memory that only the launch itself uses.
inline u64 scratch_bytes(const Kernel &kernel, const Op &op, const Machine &machine,
                         u64 Op::*argument) {
    for (const Scratch &scratch : kernel.contract->scratch)
        if (scratch.argument == argument)
            return scratch.bytes(op, kernel, machine);
    throw Error(fmt::format("{} has no such scratch memory", kernel.family));
}

// Bytes of activations that the first launch before a product of this family makes.
inline u64 converted_bytes(std::string_view family, u32 m, u32 k) {
    const Before &before = find_family(family)->before.front();
    const Op op = linear_gguf("q4_K", m, 1, k);
    for (const Kernel &made_by : kernels(targets().front().name)) // the same on all
        if (made_by.family == before.family) {
            const Machine machine = usual_machine(made_by.gfx);
            Op made = before.op(op, made_by, machine);
            return before.gives.front().bytes(derived(made_by, made, machine), made_by, machine);
        }
    throw Error(fmt::format("no kernel of {}", before.family));
}

} // namespace check

inline u64 q8_bytes(u32 m, u32 k) { return check::converted_bytes("gguf_decode", m, k); }
inline u64 gguf_halves_bytes(u32 m, u32 k) { return check::converted_bytes("gguf_mid", m, k); }
// Of 16 rows, that gguf_halves' result has.
constexpr u32 gguf_halves_tiles(u32 m) { return m <= 16 ? 1 : 2 * ceil_div(m, 32u); }

inline u32 gguf_block(std::string_view type) { return find_ggml_type(type)->elements; }

// Slots of a MoE block.
inline u32 moe_block_size(const Kernel &k) { return k.param("bm").empty() ? k.p.m : k.p.bm; }

} // namespace nw
