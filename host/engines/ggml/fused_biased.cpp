// SPDX-License-Identifier: MIT
// Products of experts with biases, as gpt-oss has them.
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
    if (glu->src[0] != gate.sum || glu->src[1] != up.sum || !are_alike(gate.product, up.product) ||
        !set_unit(glu, operand) || writes_its_row(operand, x, glu))
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

} // namespace nw::engine
