// SPDX-License-Identifier: MIT
// A router: its product, the softmax, and the choice of experts; with the norm in front of it, if
// the experts' first products are all else that reads its row.
#include <ggml-impl.h>

#include <cmath>
#include <string>

#include "engines/ggml/fusion.h"
#include "engines/ggml/gated.h"
#include "engines/ggml/maps.h"
#include "engines/ggml/ops.h"

namespace nw::engine {

namespace {

// Nodes behind the logits: a softmax of all experts, their order, the chosen ones and their
// weights. `late`: a softmax of the chosen ones' logits, which is that of all divided by their sum.
struct Route {
    const ggml_tensor *logits, *softmax, *order, *chosen, *rows, *weights;
    const ggml_tensor *clamp = nullptr; // of the weights' sum, by which they are divided
    bool late = false;
    int nodes = 0;

    const ggml_tensor *scores() const { return late ? logits : softmax; }
};

bool has_early_route(const ggml_cgraph *graph, int i, Route &out) {
    const ggml_tensor *const *const n = graph->nodes + i;
    if (ggml_can_fuse_subgraph(graph, i,
                               {GGML_OP_SOFT_MAX, GGML_OP_RESHAPE, GGML_OP_ARGSORT, GGML_OP_VIEW,
                                GGML_OP_GET_ROWS, GGML_OP_RESHAPE, GGML_OP_SUM_ROWS, GGML_OP_CLAMP,
                                GGML_OP_DIV},
                               {i + 3, i + 8})) {
        out = {n[0]->src[0], n[0], n[2], n[3], n[4], n[8], n[7], false, 9};
        return n[5]->src[0] == n[4] && n[6]->src[0] == n[5] && n[7]->src[0] == n[6] &&
               n[8]->src[0] == n[5] && n[8]->src[1] == n[7];
    }
    if (!ggml_can_fuse_subgraph(
            graph, i,
            {GGML_OP_SOFT_MAX, GGML_OP_RESHAPE, GGML_OP_ARGSORT, GGML_OP_VIEW, GGML_OP_GET_ROWS},
            {i + 3, i + 4}))
        return false;
    out = {n[0]->src[0], n[0], n[2], n[3], n[4], n[4], nullptr, false, 5};
    return true;
}

bool has_late_route(const ggml_cgraph *graph, int i, Route &out) {
    const int reshaped = graph->nodes[i]->op == GGML_OP_RESHAPE ? 1 : 0; // logits, for GET_ROWS
    const int from = i + reshaped;
    if (!ggml_can_fuse_subgraph(
            graph, from,
            {GGML_OP_ARGSORT, GGML_OP_VIEW, GGML_OP_GET_ROWS, GGML_OP_RESHAPE, GGML_OP_SOFT_MAX},
            {from + 1, from + 4}))
        return false;
    const ggml_tensor *const *const n = graph->nodes + from;
    out = {n[0]->src[0], n[4], n[0], n[1], n[2], n[4], nullptr, true, 5 + reshaped};
    return n[3]->src[0] == n[2] && n[4]->src[0] == n[3] && n[4]->ne[0] == n[1]->ne[0] &&
           n[4]->ne[1] == n[1]->ne[1];
}

// Whether they are what nw_topk_moe computes.
bool is_plain(const Route &r) {
    const ggml_tensor *const scores = r.scores(), *const column = r.rows->src[0];
    return !r.softmax->src[1] && !r.softmax->src[2] && parameter<float>(r.softmax, 0) == 1 &&
           is_f32(r.logits) && ggml_is_contiguous(r.logits) &&
           r.logits->ne[2] * r.logits->ne[3] == 1 && r.order->src[0] == scores &&
           parameter<int32_t>(r.order, 0) == GGML_SORT_ORDER_DESC && r.chosen->src[0] == r.order &&
           r.chosen->view_offs == 0 && r.chosen->nb[1] == r.order->nb[1] &&
           r.chosen->ne[1] == r.logits->ne[1] && column->op == GGML_OP_RESHAPE &&
           column->src[0] == scores && column->ne[0] == 1 && r.rows->src[1] == r.chosen &&
           is_f32(r.weights) && ggml_is_contiguous(r.weights) &&
           (!r.clamp || std::isinf(parameter<float>(r.clamp, 1)));
}

bool has_route(const ggml_cgraph *graph, int i, Route &out) {
    return (has_early_route(graph, i, out) || has_late_route(graph, i, out)) && is_plain(out);
}

// A router's product, of one token, at node `first`: what its launch takes, and how many nodes it
// computes.
struct Router {
    nw_route_moe_op operand = NW_ROUTE_MOE_OP_INIT;
    int nodes = 0;
};

// The operands of the two calls that a route gives both.
template <class Op> void map_route(const Route &r, Op &out) {
    out.m = size(r.logits, 1), out.experts = size(r.logits, 0), out.top_k = size(r.chosen, 0);
    out.normed = r.clamp || r.late;
    out.limit = r.clamp ? parameter<float>(r.clamp, 0) : 0;
    out.y = static_cast<float *>(r.weights->data);
    out.ids = static_cast<int32_t *>(r.chosen->data);
    out.ids_stride = r.chosen->nb[1];
    out.y_stride = sizeof(float) * out.top_k;
}

bool is_row_by_f32(const ggml_tensor *product) {
    const ggml_tensor *const w = product->src[0], *const x = product->src[1];
    return !computes_nothing(product) && is_f32(w) && has_dense_rows(w) &&
           w->ne[2] * w->ne[3] == 1 && is_f32(x) && ggml_nrows(x) == 1 && ggml_is_contiguous(x);
}

// The bias of the experts that the node at `at` adds to the product, null if there is none.
const ggml_tensor *bias_at(const ggml_cgraph *graph, int at, const ggml_tensor *product) {
    if (at >= graph->n_nodes || graph->nodes[at]->op != GGML_OP_ADD)
        return nullptr;
    const ggml_tensor *const bias = operand_beside(graph->nodes[at], product);
    return is_f32(bias) && ggml_is_contiguous(bias) && ggml_are_same_shape(bias, product) ? bias
                                                                                          : nullptr;
}

bool has_router(Queue &queue, const ggml_cgraph *graph, int first, Router &out) {
    const ggml_tensor *const product = graph->nodes[first];
    if (product->op != GGML_OP_MUL_MAT || !is_row_by_f32(product) || first + 2 >= graph->n_nodes)
        return false;
    const ggml_tensor *const bias = bias_at(graph, first + 1, product);
    const int head = bias ? 2 : 1;
    Route r;
    if ((bias && !ggml_can_fuse(graph, first, {GGML_OP_MUL_MAT, GGML_OP_ADD})) ||
        !has_route(graph, first + head, r) || r.logits != graph->nodes[first + head - 1] ||
        !ggml_node_has_n_uses(graph, first + head - 1, r.late ? 2 : 1))
        return false;
    map_route(r, out.operand);
    const ggml_tensor *const w = product->src[0], *const x = product->src[1];
    out.operand.k = size(w, 0);
    out.operand.x = static_cast<const float *>(x->data);
    out.operand.w = static_cast<const float *>(w->data);
    out.operand.x_stride = x->nb[1], out.operand.w_stride = w->nb[1];
    if (bias)
        out.operand.bias = static_cast<const float *>(bias->data);
    out.operand.workspace = queue.workspace, out.operand.workspace_bytes = queue.workspace_bytes;
    out.nodes = head + r.nodes;
    return true;
}

int launched(Queue &queue, const Router &router) {
    const nw_status status =
        nw_route_moe(queue.device.context.get(), &router.operand, queue.stream);
    return status == NW_OK ? router.nodes : 0;
}

// Whether the products at these nodes, with the one at `router`, are all that reads the norm's row.
bool are_all_readers(const ggml_cgraph *graph, int norm, int router, int products) {
    const ggml_tensor *const row = graph->nodes[products]->src[1];
    const ggml_tensor *const normed = graph->nodes[norm + 1];
    if (graph->nodes[router]->src[1] != normed)
        return false;
    if (row == normed)
        return ggml_node_has_n_uses(graph, norm + 1, 3);
    for (int i = router; i < products; i++)
        if (graph->nodes[i] == row)
            return ggml_node_has_n_uses(graph, norm + 1, 2) &&
                   ggml_node_get_use_count(graph, i) == 2 &&
                   !(row->flags & GGML_TENSOR_FLAG_OUTPUT);
    return false;
}

// The norm's row, which is written after all.
bool queue_norm(Queue &queue, const ggml_cgraph *graph, int first) {
    std::string why;
    return fuse_norm(queue, graph, first) || (launch(queue, graph->nodes[first], why) == NW_OK &&
                                              launch(queue, graph->nodes[first + 1], why) == NW_OK);
}

} // namespace

int fuse_route(Queue &queue, const ggml_cgraph *graph, int first) {
    Route r;
    if (!has_route(graph, first, r))
        return 0;
    nw_topk_moe_op operand = NW_TOPK_MOE_OP_INIT;
    map_route(r, operand);
    operand.x = static_cast<const float *>(r.logits->data), operand.x_stride = r.logits->nb[1];
    const nw_status status = nw_topk_moe(queue.device.context.get(), &operand, queue.stream);
    return status == NW_OK ? r.nodes : 0;
}

int fuse_router(Queue &queue, const ggml_cgraph *graph, int first) {
    Router router;
    return has_router(queue, graph, first, router) ? launched(queue, router) : 0;
}

// The router and the experts' gated unit, each with the norm of its row.
int fuse_normed_router(Queue &queue, const ggml_cgraph *graph, int first) {
    static const bool on = is_fused("route") && is_fused("glu");
    Router router;
    if (!on || first + 2 >= graph->n_nodes || !has_router(queue, graph, first + 2, router))
        return 0;
    int products = first + 2 + router.nodes;
    while (products + 2 < graph->n_nodes && computes_nothing(graph->nodes[products]))
        products++;
    if (products + 2 >= graph->n_nodes || graph->nodes[products]->op != GGML_OP_MUL_MAT_ID ||
        !are_all_readers(graph, first, first + 2, products))
        return 0;
    const NormedRow normed = normed_row(graph, first, ggml_node_get_use_count(graph, first + 1));
    nw_gguf_moe_act experts;
    if (!normed || !map_gated(queue, graph, products, normed, experts))
        return 0;
    router.operand.x = static_cast<const float *>(normed.x()->data);
    router.operand.norm = normed.weights(), router.operand.eps = normed.eps();
    if (!launched(queue, router))
        return 0;
    if (nw_gguf_moe_act_linear(queue.device.context.get(), &experts, queue.stream) == NW_OK)
        return products + 3 - first;
    return queue_norm(queue, graph, first) ? 2 + router.nodes : 0;
}

} // namespace nw::engine
