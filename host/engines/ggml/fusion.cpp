// SPDX-License-Identifier: MIT
#include "engines/ggml/fusion.h"

#include <ggml-impl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "engines/ggml/maps.h"
#include "engines/ggml/ops.h"
#include "engines/ggml/product.h"

namespace nw::engine {

namespace {

// Fusions by the op of their first node. The first that takes the nodes has them.
struct Row {
    ggml_op op;
    const char *name; // in NIBBLEWAVE_GGML_UNFUSED
    int (*launch)(Queue &, const ggml_cgraph *, int first);
};

constexpr Row rows[] = {
    {GGML_OP_ADD, "sum", fuse_summed_norm},
    {GGML_OP_RMS_NORM, "cache", fuse_cache},
    {GGML_OP_ROPE, "cache", fuse_cache},
    {GGML_OP_RMS_NORM, "heads", fuse_heads},
    {GGML_OP_ROPE, "heads", fuse_heads},
    {GGML_OP_RMS_NORM, "folded", fuse_normed_glu},
    {GGML_OP_RMS_NORM, "folded", fuse_normed_joint},
    {GGML_OP_RMS_NORM, "folded", fuse_normed_router},
    {GGML_OP_RMS_NORM, "norm", fuse_norm},
    {GGML_OP_MUL_MAT, "route", fuse_router},
    {GGML_OP_MUL_MAT, "glu", fuse_glu},
    {GGML_OP_MUL_MAT, "glu", fuse_rows_glu},
    {GGML_OP_MUL_MAT, "joint", fuse_joint},
    {GGML_OP_MUL_MAT, "addend", fuse_addend},
    {GGML_OP_MUL_MAT, "addend", fuse_rows_addend},
    {GGML_OP_MUL_MAT, "conversion", fuse_conversion},
    {GGML_OP_MUL_MAT_ID, "glu", fuse_glu},
    {GGML_OP_MUL_MAT_ID, "glu", fuse_biased_glu},
    {GGML_OP_MUL_MAT_ID, "addend", fuse_expert_bias},
    {GGML_OP_MUL_MAT_ID, "conversion", fuse_conversion},
    {GGML_OP_SOFT_MAX, "route", fuse_route},
    {GGML_OP_ARGSORT, "route", fuse_route},
    {GGML_OP_MUL, "experts", fuse_experts},
    {GGML_OP_GET_ROWS, "delta", fuse_state_rows},
    {GGML_OP_CONCAT, "delta", fuse_delta},
};

// Other names: the int8 rows of a norm, and the graph as a whole (replay.cpp).
constexpr const char *others[] = {"q8", "graph"};

bool is_name(const std::string &name) {
    const auto equal = [&](const char *one) { return name == one; };
    return std::any_of(std::begin(rows), std::end(rows),
                       [&](const Row &row) { return equal(row.name); }) ||
           std::any_of(std::begin(others), std::end(others), equal);
}

// The names in NIBBLEWAVE_GGML_UNFUSED, between commas. `all`: each.
const std::set<std::string> &unfused() {
    static const auto names = [] {
        std::set<std::string> out;
        const char *const asked = std::getenv("NIBBLEWAVE_GGML_UNFUSED");
        const std::string text = asked ? asked : "";
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find(',', at), text.size());
            const std::string name = text.substr(at, end - at);
            if (name == "all" || is_name(name))
                out.insert(name);
            else
                say_error(
                    "NIBBLEWAVE_GGML_UNFUSED=%s: %s must be all, cache, heads, folded, "
                    "norm, sum, q8, glu, joint, addend, conversion, route, experts, delta or graph",
                    asked, name.c_str());
            at = end + 1;
        }
        return out;
    }();
    return names;
}

// For each row whether it is on.
const bool *switches() {
    static const auto on = [] {
        std::array<bool, std::size(rows)> out{};
        for (std::size_t i = 0; i < out.size(); i++)
            out[i] = is_fused(rows[i].name);
        return out;
    }();
    return on.data();
}

// Whether a product near behind reads this result as rows of int8.
bool has_product(const ggml_cgraph *graph, int after, const ggml_tensor *result) {
    constexpr int near = 24; // nodes: a router and the choice of experts stand between
    for (int i = after; i < std::min(graph->n_nodes, after + near); i++) {
        const ggml_tensor *const node = graph->nodes[i];
        const bool product = node->op == GGML_OP_MUL_MAT || node->op == GGML_OP_MUL_MAT_ID;
        if (product && has_blocks(node) && root_of(node->src[1]) == result)
            return true;
    }
    return false;
}

// Memory for the result as int8, if it is needed so.
void *place_of_int8(Queue &queue, const ggml_cgraph *graph, int after, const ggml_tensor *result) {
    static const bool on = is_fused("q8");
    const bool fits = on && result->ne[0] % 32 == 0 &&
                      result->ne[0] > 512 && // nibblewave.h: nw_norm
                      ggml_is_contiguous(result);
    return fits && has_product(graph, after, result) ? queue.converted.place(result) : nullptr;
}

} // namespace

bool is_fused(const char *name) { return !unfused().count("all") && !unfused().count(name); }

namespace {

// norm * weight, of a weight for each element of a row.
bool map_norm(const ggml_cgraph *graph, int first, nw_norm &out) {
    const ggml_tensor *const norm = graph->nodes[first], *const product = graph->nodes[first + 1];
    const ggml_tensor *const w = operand_beside(product, norm);
    if (!is_f32(w) || !ggml_is_contiguous(w) || ggml_nelements(w) != norm->ne[0] ||
        w->ne[0] != norm->ne[0] || map_rms_norm(norm, allocated, out))
        return false;
    const nw_ggml_rows y = rows_of(product);
    out.w = static_cast<const float *>(w->data);
    out.y = product->data, out.y_stride = y.stride;
    return is_f32(product) && has_dense_rows(product) && y.rows == out.m;
}

// Queues norm * weight, and for products the same as int8; the number of nodes from `first` on.
int queue_norm(Queue &queue, const ggml_cgraph *graph, int first, int nodes, nw_norm &operand) {
    const ggml_tensor *const product = graph->nodes[first + nodes - 1];
    operand.a = place_of_int8(queue, graph, first + nodes, product);
    if (nw_rms_norm(queue.device.context.get(), &operand, queue.stream) != NW_OK)
        return 0;
    if (operand.a)
        queue.converted.hold(product);
    return nodes;
}

} // namespace

int fuse_norm(Queue &queue, const ggml_cgraph *graph, int first) {
    nw_norm operand;
    if (!ggml_can_fuse(graph, first, {GGML_OP_RMS_NORM, GGML_OP_MUL}) ||
        !map_norm(graph, first, operand))
        return 0;
    return queue_norm(queue, graph, first, 2, operand);
}

// A residual is added first; others read the sum, too.
int fuse_summed_norm(Queue &queue, const ggml_cgraph *graph, int first) {
    if (!ggml_can_fuse_subgraph(graph, first, {GGML_OP_ADD, GGML_OP_RMS_NORM, GGML_OP_MUL},
                                {first, first + 2}))
        return 0;
    const ggml_tensor *const sum = graph->nodes[first], *const x = sum->src[0],
                             *const b = sum->src[1];
    nw_norm operand;
    if (graph->nodes[first + 1]->src[0] != sum || !is_f32(x) || !is_f32(b) || !is_f32(sum) ||
        !ggml_are_same_shape(x, b) || !map_norm(graph, first + 1, operand))
        return 0;
    const nw_ggml_rows of_x = rows_of(x), of_b = rows_of(b), of_z = rows_of(sum);
    if (!has_dense_rows(x) || !has_dense_rows(b) || of_x.rows != operand.m ||
        of_b.rows != operand.m || of_z.rows != operand.m)
        return 0;
    operand.x = static_cast<const float *>(x->data), operand.x_stride = of_x.stride;
    operand.b = static_cast<const float *>(b->data), operand.b_stride = of_b.stride;
    operand.z = static_cast<float *>(sum->data), operand.z_stride = of_z.stride;
    queue.converted.written(graph->nodes[first + 2]);
    return queue_norm(queue, graph, first, 3, operand);
}

int queue_from(Queue &queue, const ggml_cgraph *graph, int first, std::string &why) {
    const ggml_tensor *const node = graph->nodes[first];
    if (computes_nothing(node) || queue.done.erase(node))
        return 1;
    queue.converted.written(node);
    const bool *const on = switches();
    for (std::size_t i = 0; i < std::size(rows); i++)
        if (rows[i].op == node->op && on[i])
            if (const int nodes = rows[i].launch(queue, graph, first))
                return nodes;
    // Alone, the node reads rows that fuse_delta would have read itself.
    if (queue.postponed && node->src[0] && root_of(node->src[0]) == queue.postponed &&
        launch(queue, std::exchange(queue.postponed, nullptr), why) != NW_OK)
        return 0;
    return launch(queue, node, why) == NW_OK ? 1 : 0;
}

} // namespace nw::engine
