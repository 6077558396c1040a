// SPDX-License-Identifier: MIT
// The weighted sum of a mixture's experts.
#include <ggml-impl.h>

#include <vector>

#include "engines/ggml/fusion.h"
#include "engines/ggml/maps.h"

namespace nw::engine {

namespace {

// The rest of a weighted sum: views of each expert's rows, their sums one after the other.
bool has_sums(const ggml_cgraph *graph, int i, int experts) {
    const ggml_tensor *const product = graph->nodes[i];
    const ggml_tensor *const *const views = graph->nodes + i + 1, *const *const sums =
                                                                      views + experts;
    for (int e = 0; e < experts; e++)
        if (views[e]->src[0] != product || views[e]->ne[0] != product->ne[0] ||
            views[e]->ne[1] != product->ne[2] || views[e]->nb[1] != product->nb[2] ||
            views[e]->view_offs != product->view_offs + e * product->nb[1])
            return false;
    for (int e = 1; e < experts; e++)
        if (sums[e - 1]->src[0] != (e == 1 ? views[0] : sums[e - 2]) ||
            sums[e - 1]->src[1] != views[e])
            return false;
    return true;
}

// The residual that the node adds to the sum, or null.
const ggml_tensor *residual_of(const ggml_cgraph *graph, int node, const ggml_tensor *sum) {
    if (node >= graph->n_nodes || graph->nodes[node]->op != GGML_OP_ADD)
        return nullptr;
    const ggml_tensor *const add = graph->nodes[node];
    const ggml_tensor *const other = add->src[0] == sum ? add->src[1] : add->src[0];
    const bool one = (add->src[0] == sum) != (add->src[1] == sum);
    return one && ggml_are_same_shape(other, sum) && is_f32(other) && has_dense_rows(other)
               ? other
               : nullptr;
}

bool can_fuse(const ggml_cgraph *graph, int first, int experts, int sums) {
    std::vector<ggml_op> ops{GGML_OP_MUL};
    ops.insert(ops.end(), static_cast<std::size_t>(experts), GGML_OP_VIEW);
    ops.insert(ops.end(), static_cast<std::size_t>(sums), GGML_OP_ADD);
    const int last = first + static_cast<int>(ops.size()) - 1;
    return ggml_can_fuse_subgraph(graph, first, static_cast<int>(ops.size()), ops.data(), &last, 1);
}

} // namespace

int fuse_experts(Queue &queue, const ggml_cgraph *graph, int first) {
    const ggml_tensor *const product = graph->nodes[first], *const x = product->src[0],
                             *const w = product->src[1];
    constexpr int64_t most = 14; // ggml_can_fuse_subgraph takes fewer than 32 nodes
    const int64_t experts = product->ne[1];
    if (experts < 2 || experts > most || !is_f32(x) || !is_f32(w) || !is_f32(product) ||
        product->ne[3] != 1 || w->ne[0] != 1 || w->ne[1] != experts || w->ne[2] != x->ne[2] ||
        w->nb[1] != sizeof(float) || !has_dense_rows(x))
        return 0;
    const int count = static_cast<int>(experts), last = first + 2 * count - 1;
    if (!can_fuse(graph, first, count, count - 1) || !has_sums(graph, first, count))
        return 0;
    const ggml_tensor *y = graph->nodes[last];
    const ggml_tensor *residual = residual_of(graph, last + 1, y);
    if (residual && can_fuse(graph, first, count, count))
        y = graph->nodes[last + 1];
    else
        residual = nullptr;
    nw_moe_sum_op operand = NW_MOE_SUM_OP_INIT;
    operand.m = size(x, 2), operand.k = size(x, 0), operand.top_k = size(x, 1);
    operand.x = static_cast<const float *>(x->data),
    operand.w = static_cast<const float *>(w->data);
    operand.y = static_cast<float *>(y->data), operand.y_stride = y->nb[1];
    operand.x_s1 = x->nb[1], operand.x_s2 = x->nb[2], operand.w_s1 = w->nb[2];
    if (residual)
        operand.bias = static_cast<const float *>(residual->data),
        operand.bias_row = residual->nb[1];
    if (nw_moe_sum(queue.device.context.get(), &operand, queue.stream) != NW_OK)
        return 0;
    return 2 * count + (residual ? 1 : 0);
}

} // namespace nw::engine
