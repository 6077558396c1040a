// SPDX-License-Identifier: MIT
// Experts with weights of act-order in the C API (nibblewave.h).
#include "capi/permuted.h"

namespace nw::api {

namespace {

// True if one launch is the product, its permutation too.
bool moe_in_one_launch(const nw_context &context, Op op) {
    op.kind = OpKind::permuted_moe_w4a16;
    return is_served(context.machine.target->name, op);
}

TwoLaunches moe_two_launches(Op op) {
    Op permute{.kind = OpKind::moe_permute_a};
    permute.k = op.k;
    permute.block_size = op.block_size;
    permute.blocks = op.blocks;
    permute.slots = op.slots;
    permute.experts = op.experts;
    permute.top_k = op.top_k;
    permute.a = op.a;
    permute.perm = op.perm;
    permute.expert_ids = op.expert_ids;
    permute.sorted_token_ids = op.sorted_token_ids;
    permute.num_tokens_post_padded = op.num_tokens_post_padded;
    op.perm = 0;
    op.top_k = 1; // rows are slots'
    return {permute, op, op.slots, "slots"};
}

void launch_either(nw_context &context, Op op, void *workspace, u64 bytes, void *stream) {
    constexpr const char *prepare = "nw_act_order_moe_prepare";
    if (!moe_in_one_launch(context, op))
        return launch(context, moe_two_launches(op), workspace, bytes, stream, prepare);
    op.kind = OpKind::permuted_moe_w4a16;
    launch(context, op, stream, prepare);
}

void prepare_either(nw_context &context, Op op) {
    if (!moe_in_one_launch(context, op))
        return load(context, moe_two_launches(op));
    op.kind = OpKind::permuted_moe_w4a16;
    load(context, op);
}

// What the product and the permutation check of sizes.
u64 checked_bytes(const nw_context &context, const Op &op) {
    const TwoLaunches two = moe_two_launches(op);
    const bool one_launch = moe_in_one_launch(context, op);
    meaning(NW_INVALID_ARGUMENT, [&] {
        check_shape(two.product);
        if (!one_launch)
            check_shape(two.permute);
    });
    return one_launch ? 0 : two.bytes();
}

} // namespace

} // namespace nw::api

using namespace nw;

extern "C" {

nw_status nw_act_order_moe_linear_w4a16(nw_context *context, const nw_moe_w4a16 *product,
                                        const void *perm, void *workspace, uint64_t workspace_bytes,
                                        void *stream) {
    return api::guarded([&] {
        Op op = api::moe_of(context, product); // context may be null before this
        op.perm = address(perm);
        api::launch_either(*context, op, workspace, workspace_bytes, stream);
    });
}

nw_status nw_act_order_moe_workspace_size(nw_context *context, const nw_moe_w4a16 *product,
                                          uint64_t *bytes) {
    return api::bytes_call(bytes, [&] {
        Op op = api::moe_of(context, product);
        const u64 slots = op.slots;
        op = api::without_lists(op);
        op.slots = slots;
        return api::checked_bytes(*context, op);
    });
}

nw_status nw_act_order_moe_prepare(nw_context *context, const nw_moe_w4a16 *product) {
    return api::guarded([&] {
        const Op op = api::without_lists(api::moe_of(context, product));
        const hip::KeepCurrentDevice keep(context->device);
        api::for_block_sizes(op, [&](const Op &of) { api::prepare_either(*context, of); });
    });
}
}
