// SPDX-License-Identifier: MIT
// MUL_MAT and MUL_MAT_ID of matrices that are not quantized.
#include "engines/ggml/maps.h"

namespace nw::engine {

namespace {

// A reason why no operands express the node; null if some do.
const char *unfit(const ggml_tensor *node) {
    for (int i = 0; i < 2; i++) {
        const ggml_tensor *const t = node->src[i];
        if (!has_dense_rows(t))
            return transposed;
        if (!fits(t))
            return too_large;
    }
    return is_f32(node->src[1]) && is_f32(node) ? nullptr : "src1 or dst is not f32";
}

nw_dense_op operands_of(const ggml_tensor *node, Address at) {
    const ggml_tensor *const w = node->src[0], *const a = node->src[1];
    nw_dense_op out = nw_dense_op NW_DENSE_OP_INIT;
    out.dtype = number_of(w->type);
    out.n = size(w, 1), out.k = size(w, 0);
    out.w_n2 = size(w, 2), out.w_n3 = size(w, 3);
    out.a = reinterpret_cast<const float *>(at(node, a));
    out.w = at(node, w), out.c = reinterpret_cast<float *>(at(node, node));
    out.w_s1 = w->nb[1], out.w_s2 = w->nb[2], out.w_s3 = w->nb[3];
    return out;
}

} // namespace

bool has_dense_matrix(const ggml_tensor *node) {
    const ggml_type type = node->src[0]->type;
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 || type == GGML_TYPE_BF16;
}

const char *map_dense(const ggml_tensor *node, Address at, nw_dense_op &out) {
    if (const char *const why = unfit(node))
        return why;
    const ggml_tensor *const a = node->src[1];
    out = operands_of(node, at);
    out.m = size(a, 1);
    out.n2 = out.a_n2 = size(a, 2);
    out.n3 = size(a, 3);
    out.a_s1 = a->nb[1], out.a_s2 = a->nb[2], out.a_s3 = a->nb[3];
    out.c_s1 = node->nb[1], out.c_s2 = node->nb[2], out.c_s3 = node->nb[3];
    return nullptr;
}

// A token's experts are n2, tokens n3; each has one row.
const char *map_dense_experts(const ggml_tensor *node, Address at, nw_dense_op &out) {
    if (const char *const why = unfit(node))
        return why;
    const ggml_tensor *const a = node->src[1], *const ids = node->src[2];
    if (ids->type != GGML_TYPE_I32 || !has_dense_rows(ids) || ids->ne[2] != 1 || ids->ne[3] != 1)
        return "ids are no rows of i32";
    out = operands_of(node, at);
    out.m = 1, out.n2 = size(ids, 0);
    out.n3 = size(ids, 1), out.a_n2 = size(a, 1);
    out.a_s2 = a->nb[1], out.a_s3 = a->nb[2];
    out.c_s2 = node->nb[1], out.c_s3 = node->nb[2];
    out.ids = reinterpret_cast<const int32_t *>(at(node, ids)), out.ids_stride = ids->nb[1];
    return nullptr;
}

} // namespace nw::engine
