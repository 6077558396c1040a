// SPDX-License-Identifier: MIT
// The mixture of experts with GGUF weights in the C API (nibblewave.h).
#include <bit>

#include "capi/context.h"
#include "capi/gguf_types.h"

namespace nw::api {

namespace {

Op gguf_moe_of(const nw_context *context, const nw_gguf_moe *p) {
    need_product(context, p, "nw_gguf_moe", sizeof *p);
    Op op = gguf_experts_op(OpKind::moe_gguf, *p);
    op.x = address(p->x);
    op.x_stride = p->x_stride;
    return op;
}

// Rows of expert_ids with gaps. Kernels take contiguous ids, so they are gathered into the last
// bytes of the workspace.
struct Gaps {
    const nw_gguf_moe &p;
    bool there = p.ids_row != 0 && p.ids_stride != id_bytes * p.ids_row && p.ids_row < p.slots;
    // Any number of bytes may come before them, so room for their alignment is included.
    u64 bytes = there ? id_bytes * p.slots + alignment : 0;

    static constexpr u64 id_bytes = sizeof(i32), alignment = 16;
};

Gaps gaps_of(const nw_gguf_moe &p) {
    if (p.ids_row == 0)
        return {p};
    need(p.slots % p.ids_row == 0, "ids_row = {}: must be a divisor of slots = {}", p.ids_row,
         p.slots);
    need(p.ids_stride >= Gaps::id_bytes * p.ids_row && p.ids_stride % Gaps::id_bytes == 0,
         "ids_stride = {}: must be at least 4 * ids_row = {} and a multiple of 4", p.ids_stride,
         Gaps::id_bytes * p.ids_row);
    return {p};
}

void launch_gathered(nw_context &context, Op op, const Gaps &gaps, void *stream) {
    const u64 all = workspace_of(context, op) + gaps.bytes;
    need(op.workspace_bytes >= all, "workspace_bytes = {}: must be at least {} for this product",
         op.workspace_bytes, all);
    need(op.expert_ids, "expert_ids is null: it must point to the router's choice");
    need(op.workspace, "workspace is null: it must point to workspace_bytes of device memory");
    op.workspace_bytes =
        (op.workspace_bytes - Gaps::id_bytes * op.slots) / Gaps::alignment * Gaps::alignment;
    op.expert_ids = op.workspace + op.workspace_bytes;
    launch(context, op, stream, "nw_gguf_moe_prepare", [&](const hip::Stream &on) {
        context.device.gather(reinterpret_cast<void *>(op.expert_ids), gaps.p.expert_ids,
                              gaps.p.ids_stride, Gaps::id_bytes * gaps.p.ids_row,
                              gaps.p.slots / gaps.p.ids_row, on);
    });
}

u64 act_of(i32 act) {
    need(act == NW_ACT_NONE || act == NW_ACT_SWIGLU,
         "act = {}: must be NW_ACT_NONE ({}) or NW_ACT_SWIGLU ({})", act, int{NW_ACT_NONE},
         int{NW_ACT_SWIGLU});
    return act == NW_ACT_NONE ? word("none") : word("swiglu");
}

Op gguf_moe_act_of(const nw_context *context, const nw_gguf_moe_act *p) {
    need_product(context, p, "nw_gguf_moe_act", sizeof *p);
    Op op = gguf_experts_op(OpKind::moe_gguf_act, *p);
    op.act = act_of(p->act);
    op.x = address(p->x);
    op.x_stride = p->x_stride;
    op.w_row = p->w_row;
    op.bias = address(p->bias);
    op.bias_expert = p->bias_expert;
    op.bias_row = p->bias_row;
    if (p->act == NW_ACT_NONE)
        return op;
    op.w_up = address(p->w_up);
    op.bias_up = address(p->bias_up);
    op.alpha = std::bit_cast<u32>(p->alpha);
    op.limit = std::bit_cast<u32>(p->limit);
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
        const api::Gaps gaps = api::gaps_of(*product);
        if (gaps.there)
            api::launch_gathered(*context, op, gaps, stream);
        else
            api::launch(*context, op, stream, "nw_gguf_moe_prepare");
    });
}

nw_status nw_gguf_moe_act_linear(nw_context *context, const nw_gguf_moe_act *product,
                                 void *stream) {
    return api::guarded([&] {
        const Op op = api::gguf_moe_act_of(context, product); // context may be null before
        api::launch(*context, op, stream, "nw_gguf_moe_act_prepare");
    });
}

nw_status nw_gguf_moe_act_prepare(nw_context *context, const nw_gguf_moe_act *product) {
    return api::guarded([&] {
        const Op op = api::gguf_moe_act_of(context, product);
        api::prepare_gguf_moe(*context, op);
    });
}

nw_status nw_gguf_moe_act_workspace_size(nw_context *context, const nw_gguf_moe_act *product,
                                         uint64_t *bytes) {
    return api::bytes_call(bytes, [&] {
        const Op op = api::gguf_moe_act_of(context, product); // context may be null before
        return api::workspace_of(*context, op);
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
    return api::bytes_call(bytes, [&] {
        const Op op = api::gguf_moe_of(context, product); // context may be null before
        return api::workspace_of(*context, op) + api::gaps_of(*product).bytes;
    });
}
}
