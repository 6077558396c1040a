// SPDX-License-Identifier: MIT
// The mixture of experts in the C API (nibblewave.h).
#include "capi/context.h"

namespace nw::api {

Op moe_of(const nw_context *context, const nw_moe_w4a16 *p) {
    need_product(context, p, "nw_moe_w4a16", sizeof *p);
    Op op{.kind = OpKind::moe_w4a16};
    op.silu = silu_of(p->silu_gate_up);
    op.dtype = dtype_of(p->dtype);
    op.zeros = zeros_of(p->zeros);
    op.n = p->n;
    op.k = p->k;
    op.group = p->group;
    op.experts = p->experts;
    op.block_size = p->block_size_m;
    op.blocks = p->blocks;
    op.slots = p->slots;
    op.top_k = p->top_k;
    op.a = address(p->a);
    op.w = address(p->w);
    op.s = address(p->s);
    op.z = address(p->z);
    op.bias = address(p->bias);
    op.c = address(p->c);
    op.expert_ids = address(p->expert_ids);
    op.sorted_token_ids = address(p->sorted_token_ids);
    op.topk_weights = address(p->topk_weights);
    op.num_tokens_post_padded = address(p->num_tokens_post_padded);
    op.w_stride = p->w_stride;
    op.w_expert = p->w_expert;
    op.s_stride = p->s_stride;
    op.s_expert = p->s_expert;
    op.z_stride = p->z_stride;
    op.z_expert = p->z_expert;
    return op;
}

Op without_lists(Op op) {
    op.slots = op.top_k = op.experts = op.blocks = 1;
    return op;
}

namespace {

Op routing_of(const nw_context *context, const nw_moe_routing *r) {
    need_product(context, r, "nw_moe_routing", sizeof *r);
    Op op{.kind = OpKind::moe_align};
    op.slots = r->slots;
    op.experts = r->experts;
    op.block_size = r->block_size_m;
    op.blocks = r->blocks;
    op.topk_ids = address(r->topk_ids);
    op.sorted_token_ids = address(r->sorted_token_ids);
    op.expert_ids = address(r->expert_ids);
    op.num_tokens_post_padded = address(r->num_tokens_post_padded);
    return op;
}

// The default of `blocks` in the lists' contract.
u64 most_blocks(Op op) {
    op.blocks = automatic;
    const Family &f = *find_family("moe_align");
    f.settle(op, Kernel{}, Machine{});
    return op.blocks;
}

void prepare_moe(nw_context &context, Op op) {
    const hip::KeepCurrentDevice keep(context.device);
    Op routing = op;
    routing.kind = OpKind::moe_align;
    load(context, meaning(NW_UNSUPPORTED, [&]() -> const Kernel & {
             return cheapest(context.machine.target->name, routing);
         }));
    for_block_sizes(op, [&](const Op &of) { load(context, of); });
}

} // namespace

} // namespace nw::api

using namespace nw;

extern "C" {

nw_status nw_moe_linear_w4a16(nw_context *context, const nw_moe_w4a16 *product, void *stream) {
    return api::guarded([&] {
        const Op op = api::moe_of(context, product); // context may be null before this
        api::launch(*context, op, stream, "nw_moe_prepare");
    });
}

nw_status nw_moe_prepare(nw_context *context, const nw_moe_w4a16 *product) {
    return api::guarded([&] {
        const Op op = api::moe_of(context, product);
        api::prepare_moe(*context, api::without_lists(op));
    });
}

nw_status nw_moe_align(nw_context *context, const nw_moe_routing *routing, void *stream) {
    return api::guarded([&] {
        const Op op = api::routing_of(context, routing);
        api::launch(*context, op, stream, "nw_moe_prepare");
    });
}

uint64_t nw_moe_blocks(uint32_t slots, uint32_t experts, uint32_t block_size_m) {
    if (!block_size_m)
        return 0;
    Op op{.kind = OpKind::moe_align};
    op.slots = slots;
    op.experts = experts;
    op.block_size = block_size_m;
    return api::most_blocks(op);
}

nw_status nw_moe_workspace_size(nw_context *context, const nw_moe_w4a16 *product, uint64_t *bytes) {
    return api::bytes_call(bytes, [&] {
        return api::workspace_of(*context, api::without_lists(api::moe_of(context, product)));
    });
}
}
