// SPDX-License-Identifier: MIT
// Attention with a mask in the C API (nibblewave.h).
#include "capi/context.h"

namespace nw::api {

namespace {

Op masked_of(const nw_context *context, const nw_attn_masked *p) {
    need_product(context, p, "nw_attn_masked", sizeof *p);
    Op op{.kind = OpKind::attention_masked};
    op.b = p->b, op.sq = p->sq, op.sk = p->sk;
    op.h = p->h, op.hk = p->hk, op.d = p->d;
    op.scale = any_scale;
    op.q = address(p->q), op.k = address(p->k), op.v = address(p->v), op.o = address(p->o);
    op.mask = address(p->mask), op.sinks = address(p->sinks);
    op.q_b = p->q_b, op.q_s = p->q_s, op.q_h = p->q_h;
    op.k_b = p->k_b, op.k_s = p->k_s, op.k_h = p->k_h;
    op.v_b = p->v_b, op.v_s = p->v_s, op.v_h = p->v_h;
    op.o_b = p->o_b, op.o_s = p->o_s, op.o_h = p->o_h;
    if (p->mask)
        op.mask_b = p->mask_b, op.mask_s = p->mask_s, op.mask_h = p->mask_h;
    if (p->b == 1) // kernels check strides of batches, though they do not read those of one
        op.q_b = op.q_s, op.k_b = op.k_s, op.v_b = op.v_s, op.o_b = op.o_s, op.mask_b = 0;
    op.workspace = address(p->workspace);
    op.workspace_bytes = p->workspace_bytes;
    return op;
}

// Every kernel for this head, however many queries there are.
void prepare_masked(nw_context &context, Op op) {
    const hip::KeepCurrentDevice keep(context.device);
    op.b = op.sq = op.h = op.hk = 1;
    op.sk = 8;
    load_every(context, op);
}

} // namespace

} // namespace nw::api

using namespace nw;

extern "C" {

nw_status nw_attention_masked(nw_context *context, const nw_attn_masked *attention, void *stream) {
    return api::guarded([&] {
        Op op = api::masked_of(context, attention); // context may be null before this
        op.scale = api::scale_of(attention->scale);
        api::launch(*context, op, stream, "nw_attention_masked_prepare");
    });
}

nw_status nw_attention_masked_prepare(nw_context *context, const nw_attn_masked *attention) {
    return api::guarded([&] {
        const Op op = api::masked_of(context, attention);
        api::prepare_masked(*context, op);
    });
}

nw_status nw_attention_masked_workspace_size(nw_context *context, const nw_attn_masked *attention,
                                             uint64_t *bytes) {
    return api::bytes_call(bytes, [&] {
        const Op op = api::masked_of(context, attention);
        return api::workspace_of(*context, op);
    });
}
}
