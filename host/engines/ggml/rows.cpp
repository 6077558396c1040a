// SPDX-License-Identifier: MIT
// Copies, and rows by index.
#include "engines/ggml/maps.h"

namespace nw::engine {

Extent extent_of(const ggml_tensor *t) {
    Extent out;
    for (int d = 0; d < 4; d++)
        out.size[d] = size(t, d), out.stride[d] = t->nb[d];
    if (ggml_blck_size(t->type) > 1) {
        out.size[0] = static_cast<uint32_t>(ggml_row_size(t->type, t->ne[0]) / 2);
        out.stride[0] = 2;
    }
    return out;
}

void set_extents(const Extent &x, const Extent &y, nw_copy_op &out) {
    out.n0 = x.size[0], out.n1 = x.size[1], out.n2 = x.size[2], out.n3 = x.size[3];
    out.y_n0 = y.size[0], out.y_n1 = y.size[1], out.y_n2 = y.size[2], out.y_n3 = y.size[3];
    out.x_s0 = x.stride[0], out.x_s1 = x.stride[1];
    out.x_s2 = x.stride[2], out.x_s3 = x.stride[3];
    out.y_s0 = y.stride[0], out.y_s1 = y.stride[1];
    out.y_s2 = y.stride[2], out.y_s3 = y.stride[3];
}

int number_of(ggml_type type) {
    switch (type) {
    case GGML_TYPE_F32:
        return NW_F32;
    case GGML_TYPE_F16:
        return NW_F16;
    case GGML_TYPE_BF16:
        return NW_BF16;
    case GGML_TYPE_I32:
        return NW_I32;
    default:
        return -1;
    }
}

int moved_as(std::size_t bytes) {
    switch (bytes) {
    case 1:
        return NW_B8;
    case 2:
        return NW_B16;
    case 4:
        return NW_B32;
    case 8:
        return NW_B64;
    default:
        return -1;
    }
}

bool is_dequantization(const ggml_tensor *node) {
    return ggml_is_quantized(node->src[0]->type) && node->type != node->src[0]->type;
}

bool is_quantization(const ggml_tensor *node) {
    return ggml_is_quantized(node->type) && node->type != node->src[0]->type;
}

bool is_copy(const ggml_tensor *node) { return !is_dequantization(node) && !is_quantization(node); }

const char *map_copy(const ggml_tensor *node, Address at, nw_copy_op &out) {
    const ggml_tensor *const x = node->src[0];
    if (!fits(x) || !fits(node))
        return too_large;
    const bool blocks = ggml_blck_size(x->type) > 1;
    if (blocks && ggml_type_size(x->type) % 2)
        return "blocks have odd sizes";
    out = nw_copy_op NW_COPY_OP_INIT;
    out.x_type = number_of(x->type), out.y_type = number_of(node->type);
    if (x->type == node->type)
        out.x_type = out.y_type = blocks ? NW_B16 : moved_as(ggml_type_size(x->type));
    if (out.x_type < 0 || out.y_type < 0)
        return "no kernel converts these types";
    if (blocks && !ggml_are_same_shape(x, node))
        return "quantized rows change their length";
    set_extents(extent_of(x), extent_of(node), out);
    out.x = at(node, x), out.y = at(node, node);
    return nullptr;
}

// ggml numbers types as the library does.
const char *map_dequantization(const ggml_tensor *node, Address at, nw_get_rows_op &out) {
    const ggml_tensor *const x = node->src[0];
    if (!is_f32(node))
        return "quantized rows are converted to f32 alone";
    if (!ggml_are_same_shape(x, node))
        return "quantized rows change their length";
    if (!has_dense_rows(node))
        return transposed;
    if (!fits(x))
        return too_large;
    out = nw_get_rows_op NW_GET_ROWS_OP_INIT;
    out.type = x->type, out.x_rows = size(x, 1);
    set_sizes(x, out);
    out.x = at(node, x), out.y = reinterpret_cast<float *>(at(node, node));
    set_strides(x, node, out);
    return nullptr;
}

const char *map_quantization(const ggml_tensor *node, Address at, nw_set_rows_op &out) {
    const ggml_tensor *const x = node->src[0];
    if (!is_f32(x))
        return "rows are quantized from f32 alone";
    if (!ggml_are_same_shape(x, node))
        return "quantized rows change their length";
    if (!has_dense_rows(x))
        return transposed;
    if (!fits(x))
        return too_large;
    out = nw_set_rows_op NW_SET_ROWS_OP_INIT;
    out.type = node->type, out.x_type = NW_F32, out.ids_type = NW_I32;
    out.y_rows = size(x, 1);
    set_sizes(x, out);
    out.x = at(node, x), out.y = at(node, node);
    set_strides(x, node, out);
    return nullptr;
}

const char *map_get_rows(const ggml_tensor *node, Address at, nw_get_rows_op &out) {
    const ggml_tensor *const x = node->src[0], *const ids = node->src[1];
    if (!fits(x) || !fits(ids))
        return too_large;
    if (!has_dense_rows(x) || !has_dense_rows(node))
        return transposed;
    out = nw_get_rows_op NW_GET_ROWS_OP_INIT;
    out.type = x->type, out.k = size(x, 0), out.x_rows = size(x, 1);
    out.n1 = size(ids, 0), out.n2 = size(ids, 1), out.n3 = size(ids, 2);
    out.x = at(node, x), out.ids = reinterpret_cast<const int32_t *>(at(node, ids));
    out.y = reinterpret_cast<float *>(at(node, node));
    set_strides(x, node, out);
    out.ids_s1 = ids->nb[0], out.ids_s2 = ids->nb[1], out.ids_s3 = ids->nb[2];
    return nullptr;
}

// The node is a view of src2, which the rows of src0 are written into.
const char *map_set_rows(const ggml_tensor *node, Address at, nw_set_rows_op &out) {
    const ggml_tensor *const x = node->src[0], *const ids = node->src[1];
    if (!is_f32(x) && x->type != GGML_TYPE_F16)
        return "rows are neither f32 nor f16";
    if (!fits(x) || !fits(node))
        return too_large;
    out = nw_set_rows_op NW_SET_ROWS_OP_INIT;
    out.type = node->type, out.x_type = number_of(x->type);
    out.ids_type = NW_I64;
    if (ids->type == GGML_TYPE_I32)
        out.ids_type = NW_I32;
    set_sizes(x, out);
    out.y_rows = size(node, 1), out.ids_n2 = size(ids, 1), out.ids_n3 = size(ids, 2);
    out.x = at(node, x), out.ids = at(node, ids), out.y = at(node, node);
    set_strides(x, node, out);
    out.ids_s1 = ids->nb[0], out.ids_s2 = ids->nb[1], out.ids_s3 = ids->nb[2];
    return nullptr;
}

} // namespace nw::engine
