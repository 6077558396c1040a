// SPDX-License-Identifier: MIT
// Experts with biases, as gpt-oss has them, and a router whose softmax is of the chosen experts.
#include <ggml-impl.h>

#include "engines/ggml/fusion.h"
#include "engines/ggml/maps.h"
#include "engines/ggml/moves.h"
#include "engines/ggml/one_row.h"

namespace nw::engine {

namespace {

// Whether ADD_ID adds a bias of each expert and column to this product.
bool adds_bias(const ggml_tensor *add, const ggml_tensor *product) {
    const ggml_tensor *const bias = add->src[1];
    return add->src[0] == product && add->src[2] == product->src[2] && is_f32(bias) &&
           ggml_is_contiguous(bias) && bias->ne[0] == product->ne[0] &&
           bias->ne[1] == product->src[0]->ne[2] && bias->ne[2] * bias->ne[3] == 1 && is_f32(add) &&
           ggml_is_contiguous(add);
}

// A product of one token's experts and the addition of their biases.
struct Biased {
    const ggml_tensor *product, *sum;

    Biased(const ggml_cgraph *graph, int first)
        : product(graph->nodes[first]), sum(graph->nodes[first + 1]) {}
    explicit operator bool() const {
        return product->op == GGML_OP_MUL_MAT_ID && is_of_one_token(product) &&
               adds_bias(sum, product);
    }
    const float *bias() const { return static_cast<const float *>(sum->src[1]->data); }
};

// Sets the unit's kind and parameters; false if no call has it.
bool set_unit(const ggml_tensor *glu, nw_gguf_moe_act &out) {
    if (ggml_get_glu_op(glu) == GGML_GLU_OP_SWIGLU) {
        out.act = NW_ACT_SILU;
        return true;
    }
    out.act = NW_ACT_SWIGLU;
    out.alpha = parameter<float>(glu, 2), out.limit = parameter<float>(glu, 3);
    return ggml_get_glu_op(glu) == GGML_GLU_OP_SWIGLU_OAI;
}

} // namespace

int fuse_biased_glu(Queue &queue, const ggml_cgraph *graph, int first) {
    if (!ggml_can_fuse_subgraph(
            graph, first,
            {GGML_OP_MUL_MAT_ID, GGML_OP_ADD_ID, GGML_OP_MUL_MAT_ID, GGML_OP_ADD_ID, GGML_OP_GLU},
            {first + 4}))
        return 0;
    const Biased one(graph, first), other(graph, first + 2);
    const ggml_tensor *const glu = graph->nodes[first + 4];
    if (!one || !other || !ggml_is_contiguous(glu) || parameter<int32_t>(glu, 1))
        return 0;
    const bool up_first = glu->src[0] == other.sum && glu->src[1] == one.sum;
    const Biased &gate = up_first ? other : one, &up = up_first ? one : other;
    const ggml_tensor *const x = gate.product->src[1];
    nw_gguf_moe_act operand = operand_of(queue, gate.product);
    if (glu->src[0] != gate.sum || glu->src[1] != up.sum || x != up.product->src[1] ||
        gate.product->src[2] != up.product->src[2] ||
        !have_same_weights(gate.product->src[0], up.product->src[0]) || !set_unit(glu, operand) ||
        writes_its_row(operand, x, glu))
        return 0;
    operand.w_up = up.product->src[0]->data, operand.c = glu->data;
    operand.bias = gate.bias(), operand.bias_up = up.bias();
    return launched(queue, operand, 5);
}

int fuse_expert_bias(Queue &queue, const ggml_cgraph *graph, int first) {
    if (!ggml_can_fuse(graph, first, {GGML_OP_MUL_MAT_ID, GGML_OP_ADD_ID}))
        return 0;
    const Biased experts(graph, first);
    if (!experts)
        return 0;
    nw_gguf_moe_act operand = operand_of(queue, experts.product);
    operand.bias = experts.bias(), operand.c = experts.sum->data;
    return writes_its_row(operand, experts.product->src[1], experts.sum)
               ? 0
               : launched(queue, operand, 2);
}

// The softmax of the chosen experts' logits is that of all, divided by the chosen ones' sum.
int fuse_late_route(Queue &queue, const ggml_cgraph *graph, int first) {
    if (!ggml_can_fuse_subgraph(
            graph, first,
            {GGML_OP_ARGSORT, GGML_OP_VIEW, GGML_OP_GET_ROWS, GGML_OP_RESHAPE, GGML_OP_SOFT_MAX},
            {first + 1, first + 4}))
        return 0;
    const ggml_tensor *const order = graph->nodes[first], *const chosen = graph->nodes[first + 1],
                             *const rows = graph->nodes[first + 2],
                             *const weights = graph->nodes[first + 4], *const x = order->src[0];
    const bool plain =
        parameter<int32_t>(order, 0) == GGML_SORT_ORDER_DESC && is_f32(x) &&
        ggml_is_contiguous(x) && x->ne[2] * x->ne[3] == 1 && chosen->src[0] == order &&
        chosen->view_offs == 0 && chosen->nb[1] == order->nb[1] && chosen->ne[1] == x->ne[1] &&
        rows->src[0]->op == GGML_OP_RESHAPE && rows->src[0]->src[0] == x &&
        rows->src[0]->ne[0] == 1 && rows->src[1] == chosen &&
        weights->src[0] == graph->nodes[first + 3] && !weights->src[1] && !weights->src[2] &&
        parameter<float>(weights, 0) == 1 && is_f32(weights) && ggml_is_contiguous(weights) &&
        weights->ne[0] == chosen->ne[0] && weights->ne[1] == x->ne[1];
    if (!plain)
        return 0;
    nw_topk_moe_op operand = NW_TOPK_MOE_OP_INIT;
    operand.m = size(x, 1), operand.experts = size(x, 0), operand.top_k = size(chosen, 0);
    operand.normed = 1, operand.limit = 0;
    operand.x = static_cast<const float *>(x->data);
    operand.y = static_cast<float *>(weights->data);
    operand.ids = static_cast<int32_t *>(chosen->data);
    operand.x_stride = x->nb[1], operand.ids_stride = chosen->nb[1];
    operand.y_stride = sizeof(float) * operand.top_k;
    return nw_topk_moe(queue.device.context.get(), &operand, queue.stream) == NW_OK ? 5 : 0;
}

} // namespace nw::engine
