// SPDX-License-Identifier: MIT
// Products of one row with what stands behind them: a bias or a residual, or two of them with a
// gated unit. They are nw_gguf_moe_act_linear's, of one expert where there are none.
#include <ggml-impl.h>

#include "engines/ggml/fusion.h"
#include "engines/ggml/maps.h"
#include "engines/ggml/product.h"

namespace nw::engine {

namespace {

bool is_moe(const ggml_tensor *op) { return op->op == GGML_OP_MUL_MAT_ID; }

// Whether it is of one token, and of weights whose experts and rows the call expresses.
bool is_of_one_token(const ggml_tensor *product) {
    const ggml_tensor *const w = product->src[0], *const x = product->src[1];
    return has_blocks(product) && ggml_is_contiguous(w) && w->ne[3] == 1 && is_f32(x) &&
           ggml_is_contiguous(x) && is_f32(product) && ggml_is_contiguous(product) &&
           (is_moe(product) ? x->ne[2] * x->ne[3] == 1 && x->ne[1] == 1
                            : ggml_nrows(x) == 1 && w->ne[2] == 1);
}

// The product without its addend and activation.
nw_gguf_moe_act operand_of(Queue &queue, const ggml_tensor *product) {
    const ggml_tensor *const w = product->src[0], *const x = product->src[1];
    nw_gguf_moe_act out = NW_GGUF_MOE_ACT_INIT;
    out.type = w->type, out.act = NW_ACT_NONE;
    out.n = size(w, 1), out.k = size(w, 0);
    out.experts = size(w, 2), out.slots = 1, out.top_k = 1;
    out.expert_ids = queue.converted.zero();
    if (is_moe(product)) {
        out.slots = out.top_k = size(product->src[2], 0);
        out.expert_ids = static_cast<const int32_t *>(product->src[2]->data);
    }
    out.w = w->data, out.c = product->data;
    out.a = queue.converted.of(x);
    if (!out.a)
        out.x = x->data;
    out.x_stride = sizeof(float) * out.k;
    out.w_row = w->nb[1], out.w_expert = w->nb[2];
    out.bias_expert = sizeof(float) * out.n;
    out.workspace = queue.workspace, out.workspace_bytes = queue.workspace_bytes;
    return out;
}

int launched(Queue &queue, const nw_gguf_moe_act &operand, int nodes) {
    const nw_status status =
        nw_gguf_moe_act_linear(queue.device.context.get(), &operand, queue.stream);
    return status == NW_OK ? nodes : 0;
}

bool have_same_weights(const ggml_tensor *a, const ggml_tensor *b) {
    return a->type == b->type && ggml_are_same_shape(a, b) && ggml_are_same_stride(a, b);
}

} // namespace

int fuse_addend(Queue &queue, const ggml_cgraph *graph, int first) {
    const ggml_tensor *const product = graph->nodes[first];
    if (!ggml_can_fuse(graph, first, {GGML_OP_MUL_MAT, GGML_OP_ADD}) || !is_of_one_token(product))
        return 0;
    const ggml_tensor *const sum = graph->nodes[first + 1];
    const ggml_tensor *const addend = sum->src[sum->src[0] == product ? 1 : 0];
    if (!is_f32(addend) || !ggml_is_contiguous(addend) || !ggml_are_same_shape(addend, sum) ||
        !is_f32(sum) || !ggml_is_contiguous(sum))
        return 0;
    nw_gguf_moe_act operand = operand_of(queue, product);
    operand.bias = static_cast<const float *>(addend->data), operand.c = sum->data;
    return launched(queue, operand, 2);
}

int fuse_glu(Queue &queue, const ggml_cgraph *graph, int first) {
    const ggml_op op = graph->nodes[first]->op;
    if (!ggml_can_fuse_subgraph(graph, first, {op, op, GGML_OP_GLU}, {first + 2}))
        return 0;
    const ggml_tensor *const glu = graph->nodes[first + 2];
    const ggml_tensor *const gate = glu->src[0], *const up = glu->src[1];
    const ggml_tensor *const one = graph->nodes[first], *const other = graph->nodes[first + 1];
    const bool both = (gate == one && up == other) || (gate == other && up == one);
    if (!both || ggml_get_glu_op(glu) != GGML_GLU_OP_SWIGLU || !is_of_one_token(gate) ||
        !is_of_one_token(up) || gate->src[1] != up->src[1] || gate->src[2] != up->src[2] ||
        !have_same_weights(gate->src[0], up->src[0]) || !ggml_is_contiguous(glu))
        return 0;
    nw_gguf_moe_act operand = operand_of(queue, gate);
    operand.act = NW_ACT_SILU;
    operand.w_up = up->src[0]->data, operand.c = glu->data;
    return launched(queue, operand, 3);
}

} // namespace nw::engine
