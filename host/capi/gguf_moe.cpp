// SPDX-License-Identifier: MIT
// The mixture of experts with GGUF weights in the C API (nibblewave.h).
#include <algorithm>

#include "capi/context.h"
#include "capi/gguf_types.h"
#include "runtime/gguf_moe_linear.h"

namespace nw::api {

namespace {

GgufMoeLinear gguf_moe_of(const nw_context *context, const nw_gguf_moe *p) {
    need_product(context, p, "nw_gguf_moe", sizeof *p);
    return {.of = {.type = gguf_type_of(p->type),
                   .n = p->n,
                   .k = p->k,
                   .experts = p->experts,
                   .slots = p->slots,
                   .top_k = p->top_k,
                   .w = p->w,
                   .w_expert = p->w_expert,
                   .c = p->c},
            .x = p->x,
            .x_stride = p->x_stride,
            .expert_ids = p->expert_ids,
            .workspace = p->workspace,
            .workspace_bytes = p->workspace_bytes};
}

// Each kernel that such a product has.
template <class Use>
void with_kernels(const nw_context &context, const GgufMoeLinear &p, u32 block_size,
                  const Use &use) {
    const GgufMoeKernels kernels = meaning(NW_UNSUPPORTED, [&] {
        return gguf_moe_kernels(context.device.info().gfx, p.of.type, block_size);
    });
    for (const Kernel *kernel : {kernels.convert, kernels.align, kernels.product})
        if (kernel)
            use(*kernel);
}

void launch_gguf_moe(nw_context &context, const GgufMoeLinear &p, void *handle) {
    const hip::KeepCurrentDevice keep(context.device);
    const auto stream = hip::Stream::borrow(context.device.library(), handle);
    meaning(NW_INVALID_ARGUMENT, [&] { validate(p); });
    with_kernels(context, p, gguf_moe_block_size(p.of.slots, p.of.experts, p.of.k),
                 [&](const Kernel &k) { load_for(context, k, stream, "nw_gguf_moe_prepare"); });
    meaning(NW_INVALID_ARGUMENT, [&] { nw::launch(context.modules, p, stream); });
}

} // namespace

} // namespace nw::api

using namespace nw;

extern "C" {

nw_status nw_gguf_moe_linear(nw_context *context, const nw_gguf_moe *product, void *stream) {
    return api::guarded([&] {
        const GgufMoeLinear p = api::gguf_moe_of(context, product); // context may be null before
        api::launch_gguf_moe(*context, p, stream);
    });
}

nw_status nw_gguf_moe_prepare(nw_context *context, const nw_gguf_moe *product) {
    return api::guarded([&] {
        const GgufMoeLinear p = api::gguf_moe_of(context, product);
        const hip::KeepCurrentDevice keep(context->device);
        const auto load_of = [&](u32 size) {
            api::with_kernels(*context, p, size, [&](const Kernel &k) { api::load(*context, k); });
        };
        load_of(1);
        std::ranges::for_each(gguf_moe_block_sizes, load_of);
    });
}

nw_status nw_gguf_moe_workspace_size(nw_context *context, const nw_gguf_moe *product,
                                     uint64_t *bytes) {
    return api::guarded([&] {
        const GgufMoeLinear p = api::gguf_moe_of(context, product);
        api::need(bytes, "bytes is null: it must point to where the size goes");
        *bytes = api::meaning(NW_INVALID_ARGUMENT, [&] { return gguf_moe_workspace(p.of); });
    });
}
}
