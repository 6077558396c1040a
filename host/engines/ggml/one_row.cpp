// SPDX-License-Identifier: MIT
#include "engines/ggml/one_row.h"

#include <ggml-impl.h>

#include "engines/ggml/maps.h"
#include "engines/ggml/product.h"

namespace nw::engine {

bool is_of_one_token(const ggml_tensor *product) {
    const ggml_tensor *const w = product->src[0], *const x = product->src[1];
    const bool moe = product->op == GGML_OP_MUL_MAT_ID;
    return has_blocks(product) && ggml_is_contiguous(w) && w->ne[3] == 1 && is_f32(x) &&
           ggml_is_contiguous(x) && is_f32(product) && ggml_is_contiguous(product) &&
           (moe ? x->ne[2] * x->ne[3] == 1 && (x->ne[1] == 1 || x->ne[1] == product->src[2]->ne[0])
                : ggml_nrows(x) == 1 && w->ne[2] == 1);
}

bool is_of_few_rows(const ggml_tensor *product) {
    constexpr int64_t most = 8; // nibblewave.h: nw_gguf_joint.m
    if (product->op != GGML_OP_MUL_MAT)
        return false;
    const ggml_tensor *const w = product->src[0], *const x = product->src[1];
    return has_blocks(product) && ggml_is_contiguous(w) && w->ne[2] * w->ne[3] == 1 && is_f32(x) &&
           ggml_is_contiguous(x) && x->ne[2] * x->ne[3] == 1 && x->ne[1] <= most &&
           is_f32(product) && ggml_is_contiguous(product);
}

Sum sum_behind(const ggml_cgraph *graph, int product) {
    const bool beside = ggml_can_fuse(graph, product, {GGML_OP_MUL_MAT, GGML_OP_ADD});
    if (!beside &&
        !ggml_can_fuse_subgraph(graph, product, {GGML_OP_MUL_MAT, GGML_OP_RESHAPE, GGML_OP_ADD},
                                {product + 2}))
        return {};
    const int last = beside ? product + 1 : product + 2;
    const ggml_tensor *const sum = graph->nodes[last];
    const ggml_tensor *const addend = operand_beside(sum, graph->nodes[last - 1]);
    const bool fits = is_f32(addend) && ggml_is_contiguous(addend) && is_f32(sum) &&
                      ggml_is_contiguous(sum) && ggml_are_same_shape(addend, sum) &&
                      sum->ne[0] == graph->nodes[product]->ne[0];
    return fits ? Sum{sum, static_cast<const float *>(addend->data), last - product + 1} : Sum{};
}

bool NormedRow::is(const ggml_tensor *row) const {
    return row == product || (row->op == GGML_OP_RESHAPE && row->src[0] == product);
}

const float *NormedRow::weights() const {
    return static_cast<const float *>(operand_beside(product, norm)->data);
}

float NormedRow::eps() const { return parameter<float>(norm, 0); }

NormedRow normed_row(const ggml_cgraph *graph, int first, int uses) {
    if (!ggml_can_fuse(graph, first, {GGML_OP_RMS_NORM, GGML_OP_MUL}) ||
        !ggml_node_has_n_uses(graph, first + 1, uses))
        return {};
    const ggml_tensor *const norm = graph->nodes[first], *const product = graph->nodes[first + 1];
    const ggml_tensor *const w = operand_beside(product, norm);
    const bool fits = is_f32(norm->src[0]) && is_f32(norm) && is_f32(product) && is_f32(w) &&
                      ggml_nrows(norm) == 1 && ggml_nelements(w) == norm->ne[0] &&
                      ggml_is_contiguous(norm->src[0]) && ggml_is_contiguous(w) &&
                      ggml_are_same_shape(norm, product);
    return fits ? NormedRow{norm, product} : NormedRow{};
}

} // namespace nw::engine
