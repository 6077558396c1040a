// SPDX-License-Identifier: MIT
// The mixture of experts with GGUF weights in the C API (nibblewave.h).
#include "capi/context.h"
#include "capi/gguf_types.h"

namespace nw::api {

namespace {

Op gguf_moe_of(const nw_context *context, const nw_gguf_moe *p) {
    need_product(context, p, "nw_gguf_moe", sizeof *p);
    Op op{.kind = OpKind::moe_gguf};
    op.type = gguf_type_of(p->type);
    op.n = p->n;
    op.k = p->k;
    op.experts = p->experts;
    op.slots = p->slots;
    op.top_k = p->top_k;
    op.x = address(p->x);
    op.x_stride = p->x_stride;
    op.w = address(p->w);
    op.w_expert = p->w_expert;
    op.expert_ids = address(p->expert_ids);
    op.c = address(p->c);
    op.workspace = address(p->workspace);
    op.workspace_bytes = p->workspace_bytes;
    return op;
}

// The kernels of the type, however many slots there are.
void prepare_gguf_moe(nw_context &context, Op op) {
    const hip::KeepCurrentDevice keep(context.device);
    constexpr u64 any_k = 256; // a multiple of every type's block
    op.n = op.experts = op.slots = op.top_k = 1;
    op.k = any_k;
    const auto kernels =
        meaning(NW_UNSUPPORTED, [&] { return kernels_for(context.machine.target->name, op); });
    for (const Kernel *kernel : kernels)
        plan(op, *kernel, context.machine).each_kernel([&](const Kernel &k) { load(context, k); });
}

} // namespace

} // namespace nw::api

using namespace nw;

extern "C" {

nw_status nw_gguf_moe_linear(nw_context *context, const nw_gguf_moe *product, void *stream) {
    return api::guarded([&] {
        const Op op = api::gguf_moe_of(context, product); // context may be null before
        api::launch(*context, op, stream, "nw_gguf_moe_prepare");
    });
}

nw_status nw_gguf_moe_prepare(nw_context *context, const nw_gguf_moe *product) {
    return api::guarded([&] {
        const Op op = api::gguf_moe_of(context, product);
        api::prepare_gguf_moe(*context, op);
    });
}

nw_status nw_gguf_moe_workspace_size(nw_context *context, const nw_gguf_moe *product,
                                     uint64_t *bytes) {
    return api::bytes_call(
        bytes, [&] { return api::workspace_of(*context, api::gguf_moe_of(context, product)); });
}
}
