// SPDX-License-Identifier: MIT
// Softmax, norms, sums and orders of rows of f32.
#include "engines/ggml/maps.h"

namespace nw::engine {

namespace {

// Why the rows of x and of the node can't be passed as they are; null if they can.
const char *unfit(const ggml_tensor *node) {
    const ggml_tensor *const x = node->src[0];
    if (!is_f32(x))
        return not_f32;
    if (!has_dense_rows(x) || !has_dense_rows(node))
        return transposed;
    return fits(x) ? nullptr : too_large;
}

// Rows in three dimensions of both.
template <class Op> void set_rows_of(const ggml_tensor *node, Address at, Op &out) {
    const ggml_tensor *const x = node->src[0];
    set_sizes(x, out);
    out.x = reinterpret_cast<const float *>(at(node, x));
    out.y = reinterpret_cast<float *>(at(node, node));
    set_strides(x, node, out);
}

} // namespace

const char *map_soft_max(const ggml_tensor *node, Address at, nw_soft_max_op &out) {
    if (const char *const why = unfit(node))
        return why;
    const ggml_tensor *const mask = node->src[1], *const sinks = node->src[2];
    out = nw_soft_max_op NW_SOFT_MAX_OP_INIT;
    set_rows_of(node, at, out);
    out.scale = parameter<float>(node, 0), out.max_bias = parameter<float>(node, 1);
    out.mask_type = number_of(mask ? mask->type : GGML_TYPE_F32);
    if (mask) {
        out.mask = at(node, mask);
        out.mask_n2 = size(mask, 2), out.mask_n3 = size(mask, 3);
        out.mask_s = mask->nb[1], out.mask_h = mask->nb[2], out.mask_b = mask->nb[3];
    }
    if (sinks)
        out.sinks = reinterpret_cast<const float *>(at(node, sinks));
    return nullptr;
}

const char *map_norm_rows(const ggml_tensor *node, Address at, nw_norm_rows_op &out) {
    if (const char *const why = unfit(node))
        return why;
    out = nw_norm_rows_op NW_NORM_ROWS_OP_INIT;
    out.function = node->op == GGML_OP_NORM       ? NW_NORM_LAYER
                   : node->op == GGML_OP_RMS_NORM ? NW_NORM_RMS
                                                  : NW_NORM_L2;
    set_rows_of(node, at, out);
    out.eps = parameter<float>(node, 0);
    return nullptr;
}

// A group of channels, which follow each other, is a row.
const char *map_group_norm(const ggml_tensor *node, Address at, nw_norm_rows_op &out) {
    const ggml_tensor *const x = node->src[0];
    const int64_t groups = parameter<int32_t>(node, 0);
    if (const char *const why = unfit(node))
        return why;
    if (!ggml_is_contiguous(x) || !ggml_is_contiguous(node))
        return not_contiguous;
    if (groups < 1 || x->ne[2] % groups)
        return "groups have unequal numbers of channels";
    const int64_t length = x->ne[0] * x->ne[1] * (x->ne[2] / groups);
    if (!fits(static_cast<uint64_t>(length)))
        return too_large;
    out = nw_norm_rows_op NW_NORM_ROWS_OP_INIT;
    out.function = NW_NORM_LAYER;
    set_rows_of(node, at, out);
    out.k = static_cast<uint32_t>(length), out.n1 = static_cast<uint32_t>(groups);
    out.n2 = size(x, 3), out.n3 = 1;
    out.x_s1 = out.y_s1 = sizeof(float) * out.k;
    out.x_s2 = out.y_s2 = x->nb[3];
    out.eps = parameter<float>(node, 1);
    return nullptr;
}

const char *map_sum_rows(const ggml_tensor *node, Address at, nw_sum_rows_op &out) {
    if (const char *const why = unfit(node))
        return why;
    out = nw_sum_rows_op NW_SUM_ROWS_OP_INIT;
    out.function = node->op == GGML_OP_MEAN ? NW_MEAN : NW_SUM;
    set_rows_of(node, at, out);
    return nullptr;
}

const char *map_cumsum(const ggml_tensor *node, Address at, nw_cumsum_op &out) {
    if (const char *const why = unfit(node))
        return why;
    out = nw_cumsum_op NW_CUMSUM_OP_INIT;
    set_rows_of(node, at, out);
    return nullptr;
}

// All elements as one row.
const char *map_sum(const ggml_tensor *node, Address at, nw_sum_rows_op &out) {
    if (const char *const why = unfit(node))
        return why;
    const auto elements = static_cast<uint64_t>(ggml_nelements(node->src[0]));
    if (!ggml_is_contiguous(node->src[0]))
        return not_contiguous;
    if (!fits(elements))
        return too_large;
    out = nw_sum_rows_op NW_SUM_ROWS_OP_INIT;
    out.function = NW_SUM;
    set_rows_of(node, at, out);
    out.k = static_cast<uint32_t>(elements), out.n1 = out.n2 = out.n3 = 1;
    return nullptr;
}

const char *map_argmax(const ggml_tensor *node, Address at, nw_argmax_op &out) {
    if (const char *const why = unfit(node))
        return why;
    const nw_ggml_rows x = rows_of(node->src[0]);
    if (!x.rows)
        return uneven;
    if (!fits(x.rows))
        return too_large;
    out = nw_argmax_op NW_ARGMAX_OP_INIT;
    out.m = static_cast<uint32_t>(x.rows), out.k = size(node->src[0], 0);
    out.x = reinterpret_cast<const float *>(at(node, node->src[0]));
    out.y = reinterpret_cast<int32_t *>(at(node, node));
    out.x_stride = x.stride;
    return nullptr;
}

// TOP_K is the beginning of the order from the largest on.
const char *map_argsort(const ggml_tensor *node, Address at, nw_argsort_op &out) {
    if (const char *const why = unfit(node))
        return why;
    const nw_ggml_rows x = rows_of(node->src[0]), y = rows_of(node);
    if (!x.rows || !y.rows)
        return uneven;
    if (!fits(x.rows))
        return too_large;
    out = nw_argsort_op NW_ARGSORT_OP_INIT;
    out.m = static_cast<uint32_t>(x.rows), out.k = size(node->src[0], 0), out.count = size(node, 0);
    out.descending =
        node->op == GGML_OP_TOP_K || parameter<int32_t>(node, 0) == GGML_SORT_ORDER_DESC;
    out.x = reinterpret_cast<const float *>(at(node, node->src[0]));
    out.y = reinterpret_cast<int32_t *>(at(node, node));
    out.x_stride = x.stride, out.y_stride = y.stride;
    return nullptr;
}

const char *map_add_id(const ggml_tensor *node, Address at, nw_add_id_op &out) {
    const ggml_tensor *const b = node->src[1], *const ids = node->src[2];
    if (const char *const why = unfit(node))
        return why;
    if (!is_f32(b) || ids->type != GGML_TYPE_I32)
        return not_f32;
    if (!has_dense_rows(b) || !has_dense_rows(ids))
        return transposed;
    if (node->ne[3] != 1 || ids->ne[2] != 1 || ids->ne[3] != 1)
        return "a tensor has four dimensions";
    out = nw_add_id_op NW_ADD_ID_OP_INIT;
    out.k = size(node, 0), out.n1 = size(node, 1), out.n2 = size(node, 2), out.experts = size(b, 1);
    out.a = reinterpret_cast<const float *>(at(node, node->src[0]));
    out.b = reinterpret_cast<const float *>(at(node, b));
    out.ids = reinterpret_cast<const int32_t *>(at(node, ids));
    out.c = reinterpret_cast<float *>(at(node, node));
    out.a_s1 = node->src[0]->nb[1], out.a_s2 = node->src[0]->nb[2], out.b_s1 = b->nb[1];
    out.c_s1 = node->nb[1], out.c_s2 = node->nb[2], out.ids_stride = ids->nb[1];
    return nullptr;
}

} // namespace nw::engine
