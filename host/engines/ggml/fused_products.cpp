// SPDX-License-Identifier: MIT
// Products of one row with what stands behind them: a bias or a residual, or two of them with a
// gated unit. They are nw_gguf_moe_act_linear's, of one expert where there are none.
#include <ggml-impl.h>

#include "engines/ggml/fusion.h"
#include "engines/ggml/gated.h"
#include "engines/ggml/maps.h"
#include "engines/ggml/moves.h"
#include "engines/ggml/one_row.h"

namespace nw::engine {

namespace {

bool is_moe(const ggml_tensor *op) { return op->op == GGML_OP_MUL_MAT_ID; }

} // namespace

int launched(Queue &queue, const nw_gguf_moe_act &operand, int nodes) {
    const nw_status status =
        nw_gguf_moe_act_linear(queue.device.context.get(), &operand, queue.stream);
    return status == NW_OK ? nodes : 0;
}

nw_gguf_moe_act operand_of(Queue &queue, const ggml_tensor *product) {
    const ggml_tensor *const w = product->src[0], *const x = product->src[1];
    nw_gguf_moe_act out = NW_GGUF_MOE_ACT_INIT;
    out.type = w->type, out.act = NW_ACT_NONE;
    out.n = size(w, 1), out.k = size(w, 0);
    out.experts = size(w, 2), out.slots = 1, out.top_k = 1;
    out.expert_ids = queue.converted.zero();
    if (is_moe(product)) {
        out.slots = size(product->src[2], 0);
        out.top_k = x->ne[1] == 1 ? out.slots : 1;
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

bool writes_its_row(const nw_gguf_moe_act &operand, const ggml_tensor *x, const ggml_tensor *c) {
    return !operand.a && overlap(x, c);
}

bool are_alike(const ggml_tensor *gate, const ggml_tensor *up) {
    const ggml_tensor *const a = gate->src[0], *const b = up->src[0];
    return gate->src[1] == up->src[1] && gate->src[2] == up->src[2] && a->type == b->type &&
           ggml_are_same_shape(a, b) && ggml_are_same_stride(a, b);
}

int fuse_addend(Queue &queue, const ggml_cgraph *graph, int first) {
    const ggml_tensor *const product = graph->nodes[first];
    const Sum sum = sum_behind(graph, first);
    if (!sum || !is_of_one_token(product))
        return 0;
    nw_gguf_moe_act operand = operand_of(queue, product);
    operand.bias = sum.addend, operand.c = sum.result->data;
    return writes_its_row(operand, product->src[1], sum.result)
               ? 0
               : launched(queue, operand, sum.nodes);
}

Gated gated_at(const ggml_cgraph *graph, int first) {
    const ggml_op op = graph->nodes[first]->op;
    if (!ggml_can_fuse_subgraph(graph, first, {op, op, GGML_OP_GLU}, {first + 2}))
        return {};
    const ggml_tensor *const glu = graph->nodes[first + 2];
    const ggml_tensor *const gate = glu->src[0], *const up = glu->src[1];
    const ggml_tensor *const one = graph->nodes[first], *const other = graph->nodes[first + 1];
    const bool both = (gate == one && up == other) || (gate == other && up == one);
    if (!both || ggml_get_glu_op(glu) != GGML_GLU_OP_SWIGLU || !are_alike(gate, up) ||
        !ggml_is_contiguous(glu))
        return {};
    return {gate, up, glu};
}

bool map_gated(Queue &queue, const ggml_cgraph *graph, int first, const NormedRow &normed,
               nw_gguf_moe_act &out) {
    const auto [gate, up, glu] = gated_at(graph, first);
    if (!glu || !is_of_one_token(gate) || !is_of_one_token(up))
        return false;
    out = operand_of(queue, gate);
    out.act = NW_ACT_SILU;
    out.w_up = up->src[0]->data, out.c = glu->data;
    if (!normed)
        return !writes_its_row(out, gate->src[1], glu);
    if (!normed.is(gate->src[1]) || overlap(normed.x(), glu))
        return false;
    out.a = nullptr, out.x = normed.x()->data;
    out.norm = normed.weights(), out.eps = normed.eps();
    return true;
}

// A product alone, whose row no norm converted: the launch for the conversion is saved.
int fuse_conversion(Queue &queue, const ggml_cgraph *graph, int first) {
    const ggml_tensor *const product = graph->nodes[first];
    if (!is_of_one_token(product))
        return 0;
    const nw_gguf_moe_act operand = operand_of(queue, product);
    if (operand.a || overlap(product->src[1], product))
        return 0;
    return launched(queue, operand, 1);
}

int fuse_glu(Queue &queue, const ggml_cgraph *graph, int first) {
    nw_gguf_moe_act operand;
    return map_gated(queue, graph, first, {}, operand) ? launched(queue, operand, 3) : 0;
}

int fuse_normed_glu(Queue &queue, const ggml_cgraph *graph, int first) {
    const NormedRow normed = normed_row(graph, first, 2);
    nw_gguf_moe_act operand;
    if (!normed || first + 2 >= graph->n_nodes || graph->nodes[first + 2]->op != GGML_OP_MUL_MAT ||
        graph->nodes[first + 2]->src[1] != normed.product ||
        !map_gated(queue, graph, first + 2, normed, operand))
        return 0;
    return launched(queue, operand, 5);
}

} // namespace nw::engine
