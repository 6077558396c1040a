// SPDX-License-Identifier: MIT
// Heads of new tokens as one launch: norm, weights, rotation, and rows of a cache.
#include <ggml-impl.h>

#include "engines/ggml/fusion.h"
#include "engines/ggml/maps.h"
#include "engines/ggml/rope.h"

namespace nw::engine {

namespace {

// Nodes of a chain from the first on; null where it has none.
struct Chain {
    const ggml_tensor *norm = nullptr, *product = nullptr, *rope = nullptr, *rows = nullptr;
    int nodes = 0;

    const ggml_tensor *x() const { return (norm ? norm : rope)->src[0]; }
    const ggml_tensor *w() const { return product->src[product->src[0] == norm ? 1 : 0]; }
};

// Whether all that the node gives is read by the next one alone.
bool is_read_once(const ggml_cgraph *graph, int node) {
    return ggml_node_has_n_uses(graph, node, 1);
}

// norm * w, rope; or rope. Then, of the same rows, set_rows.
Chain chain_from(const ggml_cgraph *graph, int first) {
    Chain out;
    if (ggml_can_fuse(graph, first, {GGML_OP_RMS_NORM, GGML_OP_MUL, GGML_OP_ROPE})) {
        out.norm = graph->nodes[first], out.product = graph->nodes[first + 1];
        first += 2, out.nodes = 2;
    } else if (graph->nodes[first]->op != GGML_OP_ROPE) {
        return {};
    }
    out.rope = graph->nodes[first];
    out.nodes++;
    if (first + 2 >= graph->n_nodes)
        return out;
    const ggml_tensor *const view = graph->nodes[first + 1], *const rows = graph->nodes[first + 2];
    const bool is_view = view->op == GGML_OP_VIEW || view->op == GGML_OP_RESHAPE;
    if (rows->op == GGML_OP_SET_ROWS && (rows->flags & GGML_TENSOR_FLAG_COMPUTE) && is_view &&
        view->src[0] == out.rope && rows->src[0] == view && is_read_once(graph, first) &&
        ggml_node_get_use_count(graph, first + 1) == 1 && !(view->flags & GGML_TENSOR_FLAG_OUTPUT))
        out.rows = rows, out.nodes += 2;
    return out;
}

// Whether rows of the cache are the heads of tokens, in their order.
bool are_tokens(const Chain &chain) {
    const ggml_tensor *const view = chain.rows->src[0], *const ids = chain.rows->src[1],
                             *const rope = chain.rope;
    return ggml_is_contiguous(rope) && ggml_is_contiguous(view) && view->view_offs == 0 &&
           ggml_nelements(view) == ggml_nelements(rope) &&
           view->ne[0] == rope->ne[0] * rope->ne[1] && view->ne[1] == rope->ne[2] &&
           ids->ne[0] == rope->ne[2] && ggml_nrows(ids) == 1 &&
           (chain.rows->type == GGML_TYPE_F16 || is_f32(chain.rows)) &&
           has_dense_rows(chain.rows) && chain.rows->ne[2] * chain.rows->ne[3] == 1;
}

void set_rotation(Queue &queue, const ggml_tensor *rope, nw_rope_norm_op &out, std::string &why) {
    const Rotation r(rope);
    out.layout = r.mode == GGML_ROPE_TYPE_NORMAL ? NW_ROPE_NORMAL : NW_ROPE_NEOX;
    out.d = size(rope, 0), out.n1 = size(rope, 1), out.n2 = size(rope, 2);
    out.pairs = r.pairs(), out.streams = r.has_streams() ? 4 : 1, out.scale = r.magnitude();
    out.pos = static_cast<const int32_t *>(rope->src[1]->data);
    out.turns = queue.turns.of(queue, rope, why);
}

void set_result(const Chain &chain, nw_rope_norm_op &out) {
    const ggml_tensor *const rope = chain.rope, *const y = chain.rows ? chain.rows : rope;
    out.y = y->data;
    out.y_type = number_of(y->type);
    out.y_rows = out.n2, out.ids_type = NW_I64;
    out.y_s1 = rope->nb[1], out.y_s2 = rope->nb[2];
    if (!chain.rows)
        return;
    const ggml_tensor *const ids = chain.rows->src[1];
    out.ids = ids->data, out.ids_s1 = ids->nb[0];
    out.ids_type = ids->type == GGML_TYPE_I32 ? NW_I32 : NW_I64;
    out.y_rows = size(y, 1);
    out.y_s1 = ggml_type_size(y->type) * out.d, out.y_s2 = y->nb[1];
}

} // namespace

int fuse_heads(Queue &queue, const ggml_cgraph *graph, int first) {
    Chain chain = chain_from(graph, first);
    if (!chain.rope)
        return 0;
    if (chain.rows && !are_tokens(chain))
        chain.rows = nullptr, chain.nodes -= 2;
    const ggml_tensor *const rope = chain.rope, *const x = chain.x();
    if (chain.nodes == 1 || !is_f32(x) || !is_f32(rope) || rope->ne[3] != 1 || !has_dense_rows(x) ||
        !has_dense_rows(rope) || !ggml_are_same_shape(x, rope))
        return 0;
    nw_rope_norm_op operand = NW_ROPE_NORM_OP_INIT;
    if (chain.norm) {
        const ggml_tensor *const w = chain.w();
        if (!is_f32(w) || !ggml_is_contiguous(w) || ggml_nelements(w) != rope->ne[0])
            return 0;
        operand.w = static_cast<const float *>(w->data);
        operand.eps = parameter<float>(chain.norm, 0);
    }
    std::string why;
    set_rotation(queue, rope, operand, why);
    set_result(chain, operand);
    operand.x = static_cast<const float *>(x->data);
    operand.x_s1 = x->nb[1], operand.x_s2 = x->nb[2];
    if (!operand.turns || nw_rope_norm(queue.device.context.get(), &operand, queue.stream) != NW_OK)
        return 0;
    return chain.nodes;
}

} // namespace nw::engine
