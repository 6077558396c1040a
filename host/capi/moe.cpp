// SPDX-License-Identifier: MIT
// The mixture of experts in the C API (nibblewave.h).
#include "runtime/moe.h"
#include "capi/context.h"
#include "runtime/moe_align.h"

namespace nw::api {

namespace {

MoeW4A16 moe_of(const nw_context *context, const nw_moe_w4a16 *p) {
    need_product(context, p, "nw_moe_w4a16", sizeof *p);
    need(p->silu_gate_up == 0 || p->silu_gate_up == 1, "silu_gate_up = {}: must be 0 or 1",
         p->silu_gate_up);
    return {.dtype = dtype_of(p->dtype),
            .n = p->n,
            .k = p->k,
            .group = p->group,
            .experts = p->experts,
            .block_size = p->block_size_m,
            .blocks = p->blocks,
            .slots = p->slots,
            .top_k = p->top_k,
            .silu_gate_up = p->silu_gate_up != 0,
            .a = p->a,
            .w = p->w,
            .s = p->s,
            .bias = p->bias,
            .c = p->c,
            .expert_ids = p->expert_ids,
            .sorted_token_ids = p->sorted_token_ids,
            .topk_weights = p->topk_weights,
            .num_tokens_post_padded = p->num_tokens_post_padded,
            .w_stride = p->w_stride,
            .w_expert = p->w_expert,
            .s_stride = p->s_stride,
            .s_expert = p->s_expert,
            .zeros = zeros_of(p->zeros),
            .z = p->z,
            .z_stride = p->z_stride,
            .z_expert = p->z_expert};
}

// The kernel for a product whose shape keeps the rules.
const Kernel &kernel_of(const nw_context &context, const MoeW4A16 &p) {
    return meaning(NW_UNSUPPORTED, [&]() -> const Kernel & {
        return choose_moe(context.device.info().gfx, p.dtype, p.group, p.block_size, p.zeros);
    });
}

const Kernel &checked_kernel(const nw_context &context, const MoeW4A16 &p) {
    meaning(NW_INVALID_ARGUMENT, [&] { validate_shape(p); });
    return kernel_of(context, p);
}

void launch_moe(nw_context &context, const MoeW4A16 &p, void *handle) {
    const hip::KeepCurrentDevice keep(context.device);
    const auto stream = hip::Stream::borrow(context.device.library(), handle);
    meaning(NW_INVALID_ARGUMENT, [&] { validate(p); });
    const Kernel &kernel = kernel_of(context, p);
    load_for(context, kernel, stream, "nw_moe_prepare");
    meaning(NW_INVALID_ARGUMENT, [&] { launch(context.modules, kernel, p, stream); });
}

const Kernel &align_kernel(const nw_context &context) {
    return meaning(NW_UNSUPPORTED,
                   [&]() -> const Kernel & { return choose_moe_align(context.device.info().gfx); });
}

void launch_align(nw_context &context, const nw_moe_routing &r, void *handle) {
    const MoeAlign p = {r.slots,    r.experts,          r.block_size_m, r.blocks,
                        r.topk_ids, r.sorted_token_ids, r.expert_ids,   r.num_tokens_post_padded};
    const hip::KeepCurrentDevice keep(context.device);
    const auto stream = hip::Stream::borrow(context.device.library(), handle);
    meaning(NW_INVALID_ARGUMENT, [&] { validate(p); });
    const Kernel &kernel = align_kernel(context);
    load_for(context, kernel, stream, "nw_moe_prepare");
    launch(context.modules, kernel, p, stream);
}

void prepare_moe(nw_context &context, MoeW4A16 p) {
    const hip::KeepCurrentDevice keep(context.device);
    load(context, align_kernel(context));
    if (p.block_size > 0)
        return load(context, checked_kernel(context, p));
    for (u32 block_size : moe_block_sizes) {
        p.block_size = block_size;
        load(context, checked_kernel(context, p));
    }
}

} // namespace

} // namespace nw::api

using namespace nw;

extern "C" {

nw_status nw_moe_linear_w4a16(nw_context *context, const nw_moe_w4a16 *product, void *stream) {
    return api::guarded([&] {
        const MoeW4A16 p = api::moe_of(context, product); // context may be null before this
        api::launch_moe(*context, p, stream);
    });
}

nw_status nw_moe_prepare(nw_context *context, const nw_moe_w4a16 *product) {
    return api::guarded([&] {
        const MoeW4A16 p = api::moe_of(context, product);
        api::prepare_moe(*context, p);
    });
}

nw_status nw_moe_align(nw_context *context, const nw_moe_routing *routing, void *stream) {
    return api::guarded([&] {
        api::need_product(context, routing, "nw_moe_routing", sizeof *routing);
        api::launch_align(*context, *routing, stream);
    });
}

uint64_t nw_moe_blocks(uint32_t slots, uint32_t experts, uint32_t block_size_m) {
    return block_size_m ? aligned_blocks(slots, experts, block_size_m) : 0;
}

nw_status nw_moe_workspace_size(nw_context *context, const nw_moe_w4a16 *product, uint64_t *bytes) {
    return api::guarded([&] {
        const MoeW4A16 p = api::moe_of(context, product);
        api::need(bytes, "bytes is null: it must point to where the size goes");
        static_cast<void>(api::checked_kernel(*context, p));
        *bytes = 0; // no kernel of this version keeps anything in device memory
    });
}
}
