// SPDX-License-Identifier: MIT
#include "engines/ggml/order.h"

#include <ggml-impl.h>

#include <algorithm>

#include "engines/ggml/node.h"

namespace nw::engine {

namespace {

constexpr int near = 64; // nodes: products of one tensor in a layer are no further apart

bool is_given(const ggml_tensor *t) { return root_of(t)->op == GGML_OP_NONE; }

// The product's nodes: itself, and the addition of a bias.
int nodes_of(const ggml_cgraph *graph, int product) {
    if (!ggml_can_fuse(graph, product, {GGML_OP_MUL_MAT, GGML_OP_ADD}))
        return 1;
    const ggml_tensor *const sum = graph->nodes[product + 1];
    const ggml_tensor *const other = operand_beside(sum, graph->nodes[product]);
    return is_given(other) ? 2 : 1;
}

} // namespace

void gather_products(ggml_cgraph *graph) {
    for (int i = 0; i < graph->n_nodes; i++) {
        const ggml_tensor *const lead = graph->nodes[i];
        // A router, whose weights are f32, stays beside its softmax.
        if (lead->op != GGML_OP_MUL_MAT || !ggml_is_quantized(lead->src[0]->type))
            continue;
        int end = i + nodes_of(graph, i);
        for (int j = end; j < std::min(graph->n_nodes, i + near); j++) {
            const ggml_tensor *const node = graph->nodes[j];
            if (node->op != GGML_OP_MUL_MAT || node->src[1] != lead->src[1] ||
                !ggml_is_quantized(node->src[0]->type) || !is_given(node->src[0]))
                continue;
            const int nodes = nodes_of(graph, j);
            ggml_tensor **const all = graph->nodes;
            std::rotate(all + end, all + j, all + j + nodes);
            end += nodes;
            j += nodes - 1;
        }
        i = end - 1;
    }
}

} // namespace nw::engine
