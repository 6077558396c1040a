// SPDX-License-Identifier: MIT
// Products of int8 activations in the C API (nibblewave.h).
#include "capi/context.h"

namespace nw::api {

namespace {

Op rows_of(const nw_context *context, const nw_int8_rows *r) {
    need_product(context, r, "nw_int8_rows", sizeof *r);
    return rows_op(OpKind::quantize_rows, *r);
}

Op int8_product_of(const nw_context *context, const nw_w4a8 *p) {
    need_product(context, p, "nw_w4a8", sizeof *p);
    Op op = w4a16_op(OpKind::linear_w4a8, *p);
    op.a_scale = address(p->a_scale);
    return op;
}

// The product's kernel and the one that makes its activations.
void prepare_int8(nw_context &context, const Op &op) {
    const hip::KeepCurrentDevice keep(context.device);
    load(context, op);
    Op rows = op;
    rows.kind = OpKind::quantize_rows;
    load_default(context, rows);
}

} // namespace

} // namespace nw::api

using namespace nw;

extern "C" {

nw_status nw_quantize_rows(nw_context *context, const nw_int8_rows *rows, void *stream) {
    return api::guarded([&] {
        const Op op = api::rows_of(context, rows); // context may be null before this
        api::launch(*context, op, stream, "nw_w4a8_prepare");
    });
}

nw_status nw_linear_w4a8(nw_context *context, const nw_w4a8 *product, void *stream) {
    return api::guarded([&] {
        const Op op = api::int8_product_of(context, product);
        api::launch(*context, op, stream, "nw_w4a8_prepare");
    });
}

nw_status nw_w4a8_prepare(nw_context *context, const nw_w4a8 *product) {
    return api::guarded([&] {
        const Op op = api::int8_product_of(context, product);
        api::prepare_int8(*context, op);
    });
}
}
