// SPDX-License-Identifier: MIT
// Products of fp8 activations with GGUF weights in the C API (nibblewave.h).
#include "capi/context.h"
#include "capi/gguf_types.h"

namespace nw::api {

namespace {

Op fp8_rows_of(const nw_context *context, const nw_fp8_rows *r) {
    need_product(context, r, "nw_fp8_rows", sizeof *r);
    return rows_op(OpKind::quantize_fp8, *r);
}

Op fp8_product_of(const nw_context *context, const nw_gguf_fp8 *p) {
    need_product(context, p, "nw_gguf_fp8", sizeof *p);
    Op op{.kind = OpKind::linear_gguf_fp8};
    op.type = gguf_type_of(p->type);
    op.m = p->m;
    op.n = p->n;
    op.k = p->k;
    op.a = address(p->a);
    op.a_scale = address(p->a_scale);
    op.w = address(p->w);
    op.c = address(p->c);
    return op;
}

Op fp8_experts_of(const nw_context *context, const nw_gguf_moe_fp8 *p) {
    need_product(context, p, "nw_gguf_moe_fp8", sizeof *p);
    Op op = gguf_experts_op(OpKind::moe_gguf_fp8, *p);
    op.a = address(p->a);
    op.a_scale = address(p->a_scale);
    return op;
}

// An op of the same kernels, whatever the sizes are.
Op of_any_size(Op op) {
    constexpr u64 any_k = 64;
    op.n = op.experts = op.slots = op.top_k = 1;
    op.k = any_k;
    return op;
}

// The product's kernels and those that make its activations, of either type.
void prepare_fp8(nw_context &context, const Op &op) {
    const hip::KeepCurrentDevice keep(context.device);
    load(context, op);
    Op rows = op;
    rows.kind = OpKind::quantize_fp8;
    for (const i32 dtype : {NW_BF16, NW_F16}) {
        rows.dtype = dtype_of(dtype);
        load_default(context, rows);
    }
}

} // namespace

} // namespace nw::api

using namespace nw;

extern "C" {

nw_status nw_quantize_fp8(nw_context *context, const nw_fp8_rows *rows, void *stream) {
    return api::guarded([&] {
        const Op op = api::fp8_rows_of(context, rows); // context may be null before this
        api::launch(*context, op, stream, "nw_gguf_fp8_prepare");
    });
}

nw_status nw_gguf_fp8_linear(nw_context *context, const nw_gguf_fp8 *product, void *stream) {
    return api::guarded([&] {
        const Op op = api::fp8_product_of(context, product);
        api::launch(*context, op, stream, "nw_gguf_fp8_prepare");
    });
}

nw_status nw_gguf_fp8_prepare(nw_context *context, const nw_gguf_fp8 *product) {
    return api::guarded([&] {
        const Op op = api::fp8_product_of(context, product);
        api::prepare_fp8(*context, op);
    });
}

nw_status nw_gguf_moe_fp8_linear(nw_context *context, const nw_gguf_moe_fp8 *product,
                                 void *stream) {
    return api::guarded([&] {
        const Op op = api::fp8_experts_of(context, product); // context may be null before this
        api::launch(*context, op, stream, "nw_gguf_moe_fp8_prepare");
    });
}

nw_status nw_gguf_moe_fp8_prepare(nw_context *context, const nw_gguf_moe_fp8 *product) {
    return api::guarded([&] {
        const Op op = api::fp8_experts_of(context, product);
        api::prepare_fp8(*context, api::of_any_size(op));
    });
}

nw_status nw_gguf_moe_fp8_workspace_size(nw_context *context, const nw_gguf_moe_fp8 *product,
                                         uint64_t *bytes) {
    return api::bytes_call(bytes, [&] {
        const Op op = api::fp8_experts_of(context, product); // context may be null before this
        return api::workspace_of(*context, op);
    });
}
}
