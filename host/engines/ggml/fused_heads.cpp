// SPDX-License-Identifier: MIT
// Heads of new tokens as one launch: norm, weights, rotation, and rows of a cache. Of queries or
// keys; or of both, with the rows of values.
#include <ggml-impl.h>

#include <algorithm>

#include "engines/ggml/fusion.h"
#include "engines/ggml/maps.h"
#include "engines/ggml/moves.h"
#include "engines/ggml/ops.h"
#include "engines/ggml/rope.h"

namespace nw::engine {

namespace {

bool is_view(const ggml_tensor *node) {
    return node->op == GGML_OP_VIEW || node->op == GGML_OP_RESHAPE;
}

// Nodes of a chain from the first on; null where it has none.
struct Chain {
    const ggml_tensor *norm = nullptr, *product = nullptr, *rope = nullptr, *rows = nullptr;
    int nodes = 0;

    const ggml_tensor *x() const { return (norm ? norm : rope)->src[0]; }
    const float *w() const { return norm ? static_cast<const float *>(weights()->data) : nullptr; }
    const ggml_tensor *weights() const { return operand_beside(product, norm); }
};

// Whether all that the node gives is read by the next one alone.
bool is_read_once(const ggml_cgraph *graph, int node) {
    return ggml_node_has_n_uses(graph, node, 1);
}

// norm * w, rope; or rope.
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
    return out;
}

// Whether set_rows stores the rope's result, by way of a view, and nothing else reads it.
bool is_stored(const ggml_cgraph *graph, int rope, int view, int rows) {
    const ggml_tensor *const v = graph->nodes[view], *const r = graph->nodes[rows];
    return r->op == GGML_OP_SET_ROWS && (r->flags & GGML_TENSOR_FLAG_COMPUTE) && is_view(v) &&
           v->src[0] == graph->nodes[rope] && r->src[0] == v && is_read_once(graph, rope) &&
           ggml_node_get_use_count(graph, view) == 1 && !(v->flags & GGML_TENSOR_FLAG_OUTPUT);
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

// Whether all but the rows of the cache is what both calls compute.
bool is_plain(const Chain &chain) {
    const ggml_tensor *const rope = chain.rope, *const x = chain.x();
    if (!is_f32(x) || !is_f32(rope) || rope->ne[3] != 1 || !has_dense_rows(x) ||
        !has_dense_rows(rope) || !ggml_are_same_shape(x, rope) || Rotation(rope).offset != 0)
        return false;
    const ggml_tensor *const w = chain.norm ? chain.weights() : nullptr;
    return !w || (is_f32(w) && ggml_is_contiguous(w) && ggml_nelements(w) == rope->ne[0]);
}

template <class Op>
void set_rotation(Queue &queue, const ggml_tensor *rope, Op &out, std::string &why) {
    const Rotation r(rope);
    out.layout = r.mode == GGML_ROPE_TYPE_NORMAL ? NW_ROPE_NORMAL : NW_ROPE_NEOX;
    out.d = size(rope, 0);
    out.pairs = r.pairs(), out.streams = r.has_streams() ? 4 : 1, out.scale = r.magnitude();
    out.pos = static_cast<const int32_t *>(rope->src[1]->data);
    out.turns = queue.turns.of(queue, rope, why);
}

int number_of_ids(const ggml_tensor *ids) { return ids->type == GGML_TYPE_I32 ? NW_I32 : NW_I64; }

void set_result(const Chain &chain, nw_rope_norm_op &out) {
    const ggml_tensor *const rope = chain.rope, *const y = chain.rows ? chain.rows : rope;
    out.n1 = size(rope, 1), out.n2 = size(rope, 2);
    out.y = y->data;
    out.y_type = number_of(y->type);
    out.y_rows = out.n2, out.ids_type = NW_I64;
    out.y_s1 = rope->nb[1], out.y_s2 = rope->nb[2];
    if (!chain.rows)
        return;
    const ggml_tensor *const ids = chain.rows->src[1];
    out.ids = ids->data, out.ids_s1 = ids->nb[0];
    out.ids_type = number_of_ids(ids);
    out.y_rows = size(y, 1);
    out.y_s1 = ggml_type_size(y->type) * out.d, out.y_s2 = y->nb[1];
}

// ---- queries, keys and values

// The chains of queries and keys, and the SET_ROWS of values; at which nodes they begin. Between
// them are products, which are queued first.
struct Tokens {
    Chain q, k;
    const ggml_tensor *v = nullptr;
    int q_at = 0, k_at = 0, k_rows_at = 0, v_at = 0;

    int last() const { return std::max(k_rows_at, v_at); }
    // Whether it is a node that the launch replaces.
    bool has(int node) const {
        return node < q_at + q.nodes || (node >= k_at && node < k_at + k.nodes) ||
               node == k_rows_at || node == v_at;
    }
};

// -1: not there.
int index_of(const ggml_cgraph *graph, const ggml_tensor *node, int from, int to) {
    for (int i = from; i < to; i++)
        if (graph->nodes[i] == node)
            return i;
    return -1;
}

// The chain whose rope the node at `rows` stores.
bool has_keys(const ggml_cgraph *graph, int rows, Tokens &out) {
    const ggml_tensor *const view = graph->nodes[rows]->src[0];
    const int from = out.q_at + out.q.nodes;
    const int at = index_of(graph, view, from, rows),
              rope = index_of(graph, view->src[0], from, rows);
    if (rope < 0 || at < 0 || !is_stored(graph, rope, at, rows))
        return false;
    out.k_at = rope - from >= 2 ? rope - 2 : rope;
    out.k = chain_from(graph, out.k_at);
    if (out.k.rope != graph->nodes[rope])
        out.k_at = rope, out.k = chain_from(graph, rope);
    out.k.rows = graph->nodes[rows], out.k_rows_at = rows;
    return true;
}

bool has_tokens(const ggml_cgraph *graph, int first, Tokens &out) {
    constexpr int near = 24; // nodes
    out.q_at = first, out.q = chain_from(graph, first);
    if (!out.q.rope)
        return false;
    const int end = std::min(graph->n_nodes, first + near);
    for (int i = first + out.q.nodes; i < end && !(out.v && out.k.rows); i++) {
        const ggml_tensor *const node = graph->nodes[i];
        if (node->op != GGML_OP_SET_ROWS)
            continue;
        const bool rotated = is_view(node->src[0]) && node->src[0]->src[0]->op == GGML_OP_ROPE;
        if (computes_nothing(node) || (rotated && (out.k.rows || !has_keys(graph, i, out))) ||
            (!rotated && out.v))
            return false;
        if (!rotated)
            out.v = node, out.v_at = i;
    }
    return out.v && out.k.rows;
}

bool are_alike(const Tokens &p) {
    const ggml_tensor *const q = p.q.rope, *const k = p.k.rope;
    const float eps = p.q.norm ? parameter<float>(p.q.norm, 0) : 0;
    return std::equal(std::begin(q->op_params), std::end(q->op_params), k->op_params) &&
           q->src[1] == k->src[1] && q->src[2] == k->src[2] && q->ne[0] == k->ne[0] &&
           q->ne[2] == k->ne[2] && (!p.q.norm || !p.k.norm || eps == parameter<float>(p.k.norm, 0));
}

// Whether rows of values are heads of the tokens, in a cache like that of keys.
bool are_values(const Tokens &p) {
    const ggml_tensor *const x = p.v->src[0], *const ids = p.v->src[1], *const k = p.k.rows;
    return is_f32(x) && has_dense_rows(x) && x->ne[0] == p.k.rope->ne[0] * p.k.rope->ne[1] &&
           x->ne[1] == p.k.rope->ne[2] && x->ne[2] * x->ne[3] == 1 && ids->ne[0] == x->ne[1] &&
           ggml_nrows(ids) == 1 && ids->type == k->src[1]->type && p.v->type == GGML_TYPE_F16 &&
           k->type == GGML_TYPE_F16 && ggml_are_same_shape(p.v, k) && has_dense_rows(p.v);
}

// Whether all nodes between the chains may run before them (moves.h).
bool may_be_late(const ggml_cgraph *graph, const Tokens &p) {
    const auto weights = [](const Chain &chain) { return chain.norm ? chain.weights() : nullptr; };
    const ggml_tensor *const pos = p.q.rope->src[1];
    for (int i = p.q_at; i < p.last(); i++) {
        const ggml_tensor *const node = graph->nodes[i];
        if (p.has(i) || computes_nothing(node))
            continue;
        if ((node->op != GGML_OP_MUL_MAT && node->op != GGML_OP_ADD) ||
            !may_precede(node, {p.q.x(), weights(p.q), pos}, p.q.rope) ||
            (i > p.k_at &&
             !may_precede(node, {p.k.x(), weights(p.k), pos, p.k.rows->src[1]}, p.k.rows)) ||
            (i > p.v_at && !may_precede(node, {p.v->src[0], p.v->src[1]}, p.v)))
            return false;
    }
    return true;
}

void set_operands(const Tokens &p, nw_qkv_heads_op &out) {
    const ggml_tensor *const q = p.q.x(), *const k = p.k.x(), *const v = p.v->src[0];
    out.h = size(q, 1), out.hk = size(k, 1), out.tokens = size(q, 2);
    out.cache_rows = size(p.v, 1), out.ids_type = number_of_ids(p.v->src[1]);
    if (const ggml_tensor *const norm = p.q.norm ? p.q.norm : p.k.norm)
        out.eps = parameter<float>(norm, 0);
    out.q = static_cast<const float *>(q->data), out.q_s1 = q->nb[1], out.q_s2 = q->nb[2];
    out.q_w = p.q.w(), out.q_y = static_cast<float *>(p.q.rope->data);
    out.q_y_s1 = p.q.rope->nb[1], out.q_y_s2 = p.q.rope->nb[2];
    out.k = static_cast<const float *>(k->data), out.k_s1 = k->nb[1], out.k_s2 = k->nb[2];
    out.k_w = p.k.w(), out.k_cache = p.k.rows->data;
    out.k_ids = p.k.rows->src[1]->data, out.k_ids_s1 = p.k.rows->src[1]->nb[0];
    out.v = static_cast<const float *>(v->data), out.v_s1 = sizeof(float) * out.d;
    out.v_s2 = v->nb[1], out.v_cache = p.v->data;
    out.v_ids = p.v->src[1]->data, out.v_ids_s1 = p.v->src[1]->nb[0];
    out.k_cache_s1 = out.v_cache_s1 = sizeof(ggml_fp16_t) * out.d;
    out.k_cache_s2 = p.k.rows->nb[1], out.v_cache_s2 = p.v->nb[1];
}

} // namespace

int fuse_heads(Queue &queue, const ggml_cgraph *graph, int first) {
    Chain chain = chain_from(graph, first);
    if (!chain.rope || !is_plain(chain))
        return 0;
    const int rope = first + chain.nodes - 1;
    if (rope + 2 < graph->n_nodes && is_stored(graph, rope, rope + 1, rope + 2)) {
        chain.rows = graph->nodes[rope + 2];
        if (are_tokens(chain))
            chain.nodes += 2;
        else
            chain.rows = nullptr;
    }
    if (chain.nodes == 1)
        return 0;
    nw_rope_norm_op operand = NW_ROPE_NORM_OP_INIT;
    std::string why;
    set_rotation(queue, chain.rope, operand, why);
    set_result(chain, operand);
    if (chain.norm)
        operand.eps = parameter<float>(chain.norm, 0);
    operand.w = chain.w();
    operand.x = static_cast<const float *>(chain.x()->data);
    operand.x_s1 = chain.x()->nb[1], operand.x_s2 = chain.x()->nb[2];
    if (!operand.turns || nw_rope_norm(queue.device.context.get(), &operand, queue.stream) != NW_OK)
        return 0;
    return chain.nodes;
}

// Where the library refuses the launch, products that were queued are queued again: once for a
// cache.
int fuse_cache(Queue &queue, const ggml_cgraph *graph, int first) {
    Tokens p;
    if (!has_tokens(graph, first, p) || !is_plain(p.q) || !is_plain(p.k) || !are_alike(p) ||
        !are_tokens(p.k) || !are_values(p) || !may_be_late(graph, p) ||
        queue.refused_caches.count(p.v->data))
        return 0;
    nw_qkv_heads_op operand = NW_QKV_HEADS_OP_INIT;
    std::string why;
    set_rotation(queue, p.q.rope, operand, why);
    set_operands(p, operand);
    if (!operand.turns)
        return 0;
    for (int i = first; i < p.last(); i++) {
        const int queued = p.has(i) ? 1 : queue_from(queue, graph, i, why);
        if (!queued)
            return 0;
        i += queued - 1;
    }
    if (nw_qkv_heads(queue.device.context.get(), &operand, queue.stream) == NW_OK)
        return p.last() - first + 1;
    queue.refused_caches.insert(p.v->data);
    return 0;
}

} // namespace nw::engine
