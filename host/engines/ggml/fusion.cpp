// SPDX-License-Identifier: MIT
#include "engines/ggml/fusion.h"

#include <ggml-impl.h>

#include "engines/ggml/maps.h"

namespace nw::engine {

namespace {

// norm * weight, of a weight for each element of a row.
bool launch_weighted_norm(Queue &queue, const ggml_tensor *norm, const ggml_tensor *product) {
    const ggml_tensor *const w = product->src[product->src[0] == norm ? 1 : 0];
    nw_norm operand;
    if (!is_f32(w) || !ggml_is_contiguous(w) || ggml_nelements(w) != norm->ne[0] ||
        w->ne[0] != norm->ne[0] || map_rms_norm(norm, allocated, operand))
        return false;
    const nw_ggml_rows y = rows_of(product);
    if (!is_f32(product) || !has_dense_rows(product) || y.rows != operand.m)
        return false;
    operand.w = static_cast<const float *>(w->data);
    operand.y = product->data, operand.y_stride = y.stride;
    return nw_rms_norm(queue.device.context.get(), &operand, queue.stream) == NW_OK;
}

} // namespace

int launch_fused(Queue &queue, const ggml_cgraph *graph, int first) {
    const ggml_tensor *const node = graph->nodes[first];
    if (node->op == GGML_OP_RMS_NORM &&
        ggml_can_fuse(graph, first, {GGML_OP_RMS_NORM, GGML_OP_MUL}) &&
        launch_weighted_norm(queue, node, graph->nodes[first + 1]))
        return 2;
    return 0;
}

} // namespace nw::engine
