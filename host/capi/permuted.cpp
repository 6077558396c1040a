// SPDX-License-Identifier: MIT
// Products with weights of act-order in the C API (nibblewave.h).
#include "capi/context.h"

namespace nw::api {

namespace {

Op permuted_of(const nw_context *context, const nw_w4a16 *p) {
    Op op = product_of(context, p);
    op.kind = OpKind::permuted_w4a16;
    return op;
}

Op permutation_of(const nw_context *context, const nw_permutation *p) {
    need_product(context, p, "nw_permutation", sizeof *p);
    Op op{.kind = OpKind::permute_a};
    op.m = p->m;
    op.k = p->k;
    op.a = address(p->a);
    op.perm = address(p->perm);
    op.y = address(p->y);
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

} // namespace

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

nw_status nw_permute(nw_context *context, const nw_permutation *permutation, void *stream) {
    return api::guarded([&] {
        const Op op = api::permutation_of(context, permutation);
        api::launch(*context, op, stream, "nw_permute_prepare");
    });
}

nw_status nw_permute_prepare(nw_context *context, const nw_w4a16 *product) {
    return api::guarded([&] {
        const Op op = api::permuted_of(context, product);
        api::prepare_permuted(*context, op);
    });
}
}
