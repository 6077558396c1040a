// SPDX-License-Identifier: MIT
// Products with weights of act-order in the C API (nibblewave.h).
#include "capi/permuted.h"

namespace nw::api {

namespace {

Op permuted_of(const nw_context *context, const nw_w4a16 *p) {
    Op op = product_of(context, p);
    op.kind = OpKind::permuted_w4a16;
    return op;
}

void prepare_permuted(nw_context &context, const Op &op) {
    const hip::KeepCurrentDevice keep(context.device);
    const std::string_view gfx = context.machine.target->name;
    Op permute{.kind = OpKind::permute_a};
    permute.m = 1;
    permute.k = 8;
    load(context, choose(gfx, permute));
    const Kernel *kernel = nullptr;
    try {
        kernel = &choose(gfx, op);
    } catch (const Error &) {
        return; // such products take nw_permute
    }
    load(context, *kernel);
}

// True if one launch is the product, its permutation too.
bool in_one_launch(const nw_context &context, const Op &permuted) {
    return is_served(context.machine.target->name, permuted);
}

TwoLaunches two_launches(Op op) {
    Op permute{.kind = OpKind::permute_a};
    permute.m = op.m;
    permute.k = op.k;
    permute.a = op.a;
    permute.perm = op.perm;
    op.kind = OpKind::linear_w4a16;
    op.perm = 0;
    return {permute, op, op.m, "m"};
}

void prepare_act_order(nw_context &context, const Op &op) {
    if (in_one_launch(context, op))
        return load(context, op);
    load(context, two_launches(op));
}

constexpr u64 workspace_alignment = 16; // that of a

} // namespace

void launch(nw_context &context, TwoLaunches two, void *workspace, u64 bytes, void *stream,
            const char *prepare) {
    need(workspace, "workspace is null: must be {} bytes of device memory", two.bytes());
    need(bytes >= two.bytes(), "workspace_bytes = {}: must be at least {} with {} = {}, k = {}",
         bytes, two.bytes(), two.rows_name, two.rows, two.product.k);
    need(address(workspace) % workspace_alignment == 0,
         "workspace = {:#x}: must be {}-byte aligned", address(workspace), workspace_alignment);
    two.permute.y = two.product.a = address(workspace);
    launch(context, two.product, stream, prepare,
           [&](const hip::Stream &) { launch(context, two.permute, stream, prepare); });
}

void load(nw_context &context, const TwoLaunches &two) {
    load(context, two.permute);
    load(context, two.product);
}

} // namespace nw::api

using namespace nw;

extern "C" {

nw_status nw_permuted_linear_w4a16(nw_context *context, const nw_w4a16 *product, const void *perm,
                                   void *stream) {
    return api::guarded([&] {
        Op op = api::permuted_of(context, product); // context may be null before this
        op.perm = address(perm);
        api::launch(*context, op, stream, "nw_permute_prepare");
    });
}

nw_status nw_act_order_linear_w4a16(nw_context *context, const nw_w4a16 *product, const void *perm,
                                    void *workspace, uint64_t workspace_bytes, void *stream) {
    constexpr const char *prepare = "nw_act_order_prepare";
    return api::guarded([&] {
        Op op = api::permuted_of(context, product);
        op.perm = address(perm);
        if (api::in_one_launch(*context, op))
            return api::launch(*context, op, stream, prepare);
        api::launch(*context, api::two_launches(op), workspace, workspace_bytes, stream, prepare);
    });
}

nw_status nw_act_order_workspace_size(nw_context *context, const nw_w4a16 *product,
                                      uint64_t *bytes) {
    return api::bytes_call(bytes, [&] {
        const Op op = api::permuted_of(context, product);
        return api::in_one_launch(*context, op) ? 0 : api::two_launches(op).bytes();
    });
}

nw_status nw_act_order_prepare(nw_context *context, const nw_w4a16 *product) {
    return api::guarded([&] {
        const Op op = api::permuted_of(context, product);
        const hip::KeepCurrentDevice keep(context->device);
        api::for_rows(op, [&](const Op &of) { api::prepare_act_order(*context, of); });
    });
}

nw_status nw_permute_prepare(nw_context *context, const nw_w4a16 *product) {
    return api::guarded([&] {
        const Op op = api::permuted_of(context, product);
        api::prepare_permuted(*context, op);
    });
}
}
