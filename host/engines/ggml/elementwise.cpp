// SPDX-License-Identifier: MIT
// Norms, sums, products, gated units, and tensors made from indices.
#include <array>

#include "engines/ggml/maps.h"

namespace nw::engine {

namespace {

// One dimension of a, b and c, where b may be repeated.
struct Dimension {
    uint64_t size = 1, b_size = 1;
    uint64_t a = 0, b = 0, c = 0; // bytes from one to the next
};

// Whether `inner` goes on in `outer`, for all three tensors.
bool continues(const Dimension &inner, const Dimension &outer) {
    const bool whole = inner.b_size == inner.size && outer.b_size == outer.size &&
                       outer.b == inner.b * inner.b_size;
    const bool one = inner.b_size == 1 && outer.b_size == 1;
    return outer.a == inner.a * inner.size && outer.c == inner.c * inner.size && (whole || one);
}

// Dimensions of the node, as few and as long as possible: short rows leave lanes idle.
std::array<Dimension, 4> dimensions_of(const ggml_tensor *node) {
    const ggml_tensor *const a = node->src[0], *const b = node->src[1];
    const auto dimension = [&](int d) {
        return Dimension{static_cast<uint64_t>(a->ne[d]), static_cast<uint64_t>(b->ne[d]), a->nb[d],
                         b->nb[d], node->nb[d]};
    };
    std::array<Dimension, 4> out;
    out[0] = dimension(0);
    std::size_t last = 0;
    for (int d = 1; d < 4; d++)
        if (const Dimension next = dimension(d); next.size == 1)
            continue;
        else if (continues(out[last], next))
            out[last].size *= next.size, out[last].b_size *= next.b_size;
        else
            out[++last] = next;
    return out;
}

int function_of(ggml_op op) {
    return op == GGML_OP_ADD   ? NW_ADD
           : op == GGML_OP_SUB ? NW_SUB
           : op == GGML_OP_MUL ? NW_MUL
                               : NW_DIV;
}

} // namespace

const char *map_rms_norm(const ggml_tensor *node, Address at, nw_norm &out) {
    const ggml_tensor *const x = node->src[0];
    if (!is_f32(x) || !is_f32(node))
        return not_f32;
    if (!has_dense_rows(x) || !has_dense_rows(node))
        return transposed;
    const nw_ggml_rows from = rows_of(x), to = rows_of(node);
    if (!from.rows || !to.rows)
        return uneven;
    if (!fits(from.rows) || !fits(static_cast<uint64_t>(x->ne[0])))
        return too_large;
    out = nw_norm NW_NORM_INIT;
    out.y_type = NW_F32;
    out.m = static_cast<uint32_t>(from.rows), out.k = static_cast<uint32_t>(x->ne[0]);
    out.eps = parameter<float>(node, 0);
    out.x = reinterpret_cast<const float *>(at(node, x)), out.y = at(node, node);
    out.x_stride = from.stride, out.y_stride = to.stride;
    return nullptr;
}

const char *map_binary(const ggml_tensor *node, Address at, nw_binary_op &out) {
    const ggml_tensor *const a = node->src[0], *const b = node->src[1];
    const auto d = dimensions_of(node);
    for (const Dimension &one : d)
        if (!fits(one.size))
            return too_large;
    out = nw_binary_op NW_BINARY_OP_INIT;
    out.function = function_of(node->op);
    out.a_type = number_of(a->type), out.b_type = number_of(b->type);
    out.c_type = number_of(node->type);
    uint32_t *const sizes[] = {&out.k, &out.n1, &out.n2, &out.n3};
    uint32_t *const b_sizes[] = {&out.b_k, &out.b_n1, &out.b_n2, &out.b_n3};
    for (std::size_t i = 0; i < 4; i++) {
        *sizes[i] = static_cast<uint32_t>(d[i].size);
        *b_sizes[i] = static_cast<uint32_t>(d[i].b_size);
    }
    out.a = at(node, a), out.b = at(node, b), out.c = at(node, node);
    out.a_s0 = d[0].a, out.a_s1 = d[1].a, out.a_s2 = d[2].a, out.a_s3 = d[3].a;
    out.b_s0 = d[0].b, out.b_s1 = d[1].b, out.b_s2 = d[2].b, out.b_s3 = d[3].b;
    out.c_s0 = d[0].c, out.c_s1 = d[1].c, out.c_s2 = d[2].c, out.c_s3 = d[3].c;
    return nullptr;
}

const char *map_scale(const ggml_tensor *node, Address at, nw_scale_op &out) {
    const ggml_tensor *const x = node->src[0];
    if (!is_f32(x) || !is_f32(node))
        return not_f32;
    if (!ggml_is_contiguous(x) || !ggml_is_contiguous(node))
        return not_contiguous;
    const auto n = static_cast<uint64_t>(ggml_nelements(x));
    if (!fits(n))
        return too_many;
    out = nw_scale_op NW_SCALE_OP_INIT;
    out.n = static_cast<uint32_t>(n);
    out.scale = parameter<float>(node, 0), out.bias = parameter<float>(node, 1);
    out.x = reinterpret_cast<const float *>(at(node, x));
    out.y = reinterpret_cast<float *>(at(node, node));
    return nullptr;
}

// Without src1 a row of src0 has both halves, the gate first unless they are swapped.
const char *map_glu(const ggml_tensor *node, Address at, nw_glu_op &out) {
    const ggml_tensor *const a = node->src[0], *const b = node->src[1] ? node->src[1] : a;
    if (!is_f32(a) || !is_f32(b) || !is_f32(node))
        return not_f32;
    if (!has_dense_rows(a) || !has_dense_rows(b) || !has_dense_rows(node))
        return transposed;
    const nw_ggml_rows gate = rows_of(a), up = rows_of(b), y = rows_of(node);
    if (!gate.rows || !up.rows || !y.rows)
        return uneven;
    if (!fits(y.rows) || !fits(static_cast<uint64_t>(node->ne[0])))
        return too_large;
    out = nw_glu_op NW_GLU_OP_INIT;
    out.act = parameter<int32_t>(node, 0);
    out.m = static_cast<uint32_t>(y.rows), out.k = static_cast<uint32_t>(node->ne[0]);
    if (out.act == NW_GLU_SWIGLU_OAI)
        out.alpha = parameter<float>(node, 2), out.limit = parameter<float>(node, 3);
    if (out.act == NW_GLU_SWIGLU_CLAMP)
        out.limit = parameter<float>(node, 3);
    const bool swapped = parameter<int32_t>(node, 1) != 0;
    out.gate = reinterpret_cast<const float *>(at(node, a));
    out.up = reinterpret_cast<const float *>(at(node, b));
    if (!node->src[1])
        (swapped ? out.gate : out.up) += node->ne[0];
    out.y = reinterpret_cast<float *>(at(node, node));
    out.gate_stride = gate.stride, out.up_stride = up.stride, out.y_stride = y.stride;
    return nullptr;
}

} // namespace nw::engine
