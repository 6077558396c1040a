// SPDX-License-Identifier: MIT
#include "runtime/gguf_moe_linear.h"

#include <algorithm>

#include "runtime/gguf_linear.h"
#include "runtime/gguf_mid.h"
#include "runtime/gguf_operands.h"
#include "runtime/moe_align.h"

namespace nw {

namespace {

constexpr Rules rules("gguf_moe_linear");
constexpr u64 unit = 256; // parts of the workspace begin at such
constexpr u32 super_k = 256;

u64 up(u64 bytes) { return ceil_div(bytes, unit) * unit; }

u32 blocks_of(const GgufExperts &p, u32 block_size) {
    return static_cast<u32>(aligned_blocks(p.slots, p.experts, block_size));
}

// Where things are in the workspace.
struct Places {
    u64 converted = gguf_counters_bytes, slot_ids, expert_ids, used, end;

    Places(const GgufExperts &p, u32 block_size) {
        const bool blocks = block_size > 1;
        slot_ids =
            converted + up(blocks ? gguf_halves_bytes(p.rows(), p.k) : q8_bytes(p.rows(), p.k));
        const u64 count = blocks ? blocks_of(p, block_size) : 0;
        expert_ids = slot_ids + up(4 * count * block_size);
        used = expert_ids + up(4 * count);
        end = used + (blocks ? unit : 0);
    }
};

struct SlotBySlot {
    QuantizeQ8 convert;
    GgufMoeDecode product;
};
struct InBlocks {
    GgufHalves convert;
    MoeAlign align;
    GgufMoeBlocks product;
};

SlotBySlot slot_by_slot(const GgufMoeLinear &p) {
    std::byte *const at = static_cast<std::byte *>(p.workspace) + Places(p.of, 1).converted;
    return {{p.of.rows(), p.of.k, p.x, p.x_stride, at, true}, {p.of, at, p.expert_ids}};
}

InBlocks in_blocks(const GgufMoeLinear &p, u32 size) {
    const Places at(p.of, size);
    std::byte *const memory = static_cast<std::byte *>(p.workspace);
    const u32 blocks = blocks_of(p.of, size);
    return {
        {p.of.rows(), p.of.k, p.x, p.x_stride, memory + at.converted, true},
        {p.of.slots, p.of.experts, size, blocks, p.expert_ids, memory + at.slot_ids,
         memory + at.expert_ids, memory + at.used},
        {p.of, size, blocks, memory + at.converted, memory + at.expert_ids, memory + at.slot_ids}};
}

u32 block_size_of(const GgufExperts &p) { return gguf_moe_block_size(p.slots, p.experts, p.k); }

} // namespace

// An expert that has several slots is read once for them in a block; but a block's launch waits for
// lists, and does its arithmetic for 16 slots, or 32 or 64 of a large one. Of two blocks of 16 each
// unpacks the weights anew: from 24 slots an expert on large ones are as fast, from 64 far faster.
u32 gguf_moe_block_size(u32 slots, u32 experts, u32 k) {
    if (experts > most_aligned_experts || u64{4} * slots <= u64{3} * experts)
        return 1;
    if (k % super_k) // no blocks of 16; two slots one by one take as long as a large block
        return slots <= u64{2} * experts ? 1 : 64;
    return slots < u64{24} * experts ? 16 : 64;
}

u64 gguf_moe_workspace(const GgufExperts &p) {
    validate_gguf_moe_shape(p);
    u64 bytes = Places(p, 1).end;
    if (p.experts <= most_aligned_experts)
        for (u32 size : gguf_moe_block_sizes)
            bytes = std::max(bytes, Places(p, size).end);
    return bytes;
}

void validate_gguf_moe_shape(const GgufExperts &p) {
    const GgufBlocks &blocks = gguf_blocks(p.type);
    rules.need(p.n >= 1 && p.slots >= 1, "n = {}, slots = {}: must be at least 1", p.n, p.slots);
    check_gguf_blocks(rules, blocks, p.k);
    rules.need(p.experts >= 1 && p.top_k >= 1, "experts = {}, top_k = {}: must be at least 1",
               p.experts, p.top_k);
    rules.need(p.slots < u32{1} << 30, "slots = {}: must be below 2^30; split them", p.slots);
}

void validate(const GgufMoeLinear &p) {
    validate_gguf_moe_shape(p.of);
    rules.pointer("x", p.x, 16);
    rules.pointer("expert_ids", p.expert_ids, 4);
    rules.pointer("workspace", p.workspace, 16);
    const u64 bytes = gguf_moe_workspace(p.of);
    rules.need(p.workspace_bytes >= bytes, "workspace_bytes = {}: must be at least {}",
               p.workspace_bytes, bytes);
    const u64 row = gguf_row_bytes(p.of.type, p.of.k);
    const auto workspace = Rules::rows("workspace", p.workspace, 1, 0, p.workspace_bytes);
    const auto c = Rules::rows("c", p.of.c, 1, 0, u64{4} * p.of.slots * p.of.n);
    const auto x = Rules::rows("x", p.x, p.of.rows(), p.x_stride, u64{4} * p.of.k);
    const auto ids = Rules::rows("expert_ids", p.expert_ids, 1, 0, u64{4} * p.of.slots);
    rules.apart(workspace, c);
    for (const auto &result : {workspace, c}) {
        rules.apart(result, x);
        rules.apart(result, ids);
        rules.apart(result, Rules::rows("w", p.of.w, p.of.experts, p.of.w_expert, p.of.n * row));
    }
    if (const u32 size = block_size_of(p.of); size == 1) {
        const SlotBySlot steps = slot_by_slot(p);
        validate(steps.convert);
        validate(steps.product);
    } else {
        const InBlocks steps = in_blocks(p, size);
        validate(steps.convert);
        validate(steps.align);
        validate(steps.product);
    }
}

GgufMoeKernels gguf_moe_kernels(std::string_view gfx, std::string_view type, u32 block_size) {
    if (block_size == 1)
        return {&choose_quantize_q8(gfx), nullptr, &choose_gguf_moe_decode(gfx, type)};
    return {&choose_gguf_halves(gfx), &choose_moe_align(gfx),
            &choose_gguf_moe_blocks(gfx, type, block_size)};
}

void launch(Modules &modules, const GgufMoeLinear &p, const hip::Stream &stream) {
    validate(p);
    const u32 size = block_size_of(p.of);
    const GgufMoeKernels kernels = gguf_moe_kernels(modules.device().info().gfx, p.of.type, size);
    if (size == 1) {
        const SlotBySlot steps = slot_by_slot(p);
        launch(modules, *kernels.convert, steps.convert, stream);
        launch(modules, *kernels.product, steps.product, stream);
        return;
    }
    const InBlocks steps = in_blocks(p, size);
    launch(modules, *kernels.convert, steps.convert, stream);
    launch(modules, *kernels.align, steps.align, stream);
    launch(modules, *kernels.product, steps.product, stream);
}

} // namespace nw
