// SPDX-License-Identifier: MIT
// Ops that carry a state from token to token, and the convolution in front of them.
#include <cmath>

#include "engines/ggml/maps.h"

namespace nw::engine {

namespace {

template <class... Tensor> bool are_f32(const Tensor *...tensors) {
    return (is_f32(tensors) && ...);
}

template <class... Tensor> bool fit(const Tensor *...tensors) { return (fits(tensors) && ...); }

const float *floats(const char *address) { return reinterpret_cast<const float *>(address); }
float *floats(char *address) { return reinterpret_cast<float *>(address); }

} // namespace

// A row of src0 has the inputs of the tokens before, then those of the tokens.
const char *map_ssm_conv(const ggml_tensor *node, Address at, nw_ssm_conv_op &out) {
    const ggml_tensor *const x = node->src[0], *const w = node->src[1];
    if (!are_f32(x, w, node))
        return not_f32;
    if (!has_dense_rows(x) || !has_dense_rows(node))
        return transposed;
    if (!ggml_is_contiguous(w))
        return not_contiguous;
    if (!fit(x, w))
        return too_large;
    out = nw_ssm_conv_op NW_SSM_CONV_OP_INIT;
    out.taps = size(w, 0);
    out.n = size(node, 0), out.tokens = size(node, 1), out.b = size(node, 2);
    out.x = floats(at(node, x)), out.w = floats(at(node, w)), out.y = floats(at(node, node));
    out.x_stride = x->nb[1], out.x_b = x->nb[2];
    out.y_stride = node->nb[1], out.y_b = node->nb[2];
    return nullptr;
}

// The node has the results of all tokens, then the states: the last one of each sequence, then
// those after the token before it, as many as op_params say.
const char *map_gated_delta_net(const ggml_tensor *node, Address at, nw_gated_delta_op &out) {
    const ggml_tensor *const q = node->src[0], *const k = node->src[1], *const v = node->src[2];
    const ggml_tensor *const g = node->src[3], *const beta = node->src[4], *state = node->src[5];
    if (!are_f32(q, k, v, g, beta, state, node))
        return not_f32;
    if (!has_dense_rows(q) || !has_dense_rows(k) || !has_dense_rows(v))
        return transposed;
    if (q->ne[1] != k->ne[1] || q->ne[3] != v->ne[3] || k->ne[3] != v->ne[3])
        return "queries, keys and values differ in heads or sequences";
    if (!fit(q, k, v, g, state))
        return too_large;
    out = nw_gated_delta_op NW_GATED_DELTA_OP_INIT;
    out.d = size(v, 0), out.h = size(v, 1), out.hk = size(q, 1);
    out.tokens = size(v, 2), out.b = out.states = size(v, 3);
    out.vector_gate = g->ne[0] != 1;
    out.slots = parameter<uint32_t>(node, 0);
    out.scale = 1 / std::sqrt(static_cast<float>(out.d));
    out.q = floats(at(node, q)), out.k = floats(at(node, k)), out.v = floats(at(node, v));
    out.g = floats(at(node, g)), out.beta = floats(at(node, beta));
    out.state = floats(at(node, state)), out.o = floats(at(node, node));
    out.q_h = q->nb[1], out.q_s = q->nb[2], out.q_b = q->nb[3];
    out.k_h = k->nb[1], out.k_s = k->nb[2], out.k_b = k->nb[3];
    out.v_h = v->nb[1], out.v_s = v->nb[2], out.v_b = v->nb[3];
    out.o_h = sizeof(float) * out.d, out.o_s = out.o_h * out.h, out.o_b = out.o_s * out.tokens;
    out.state_stride = out.new_stride = out.o_s * out.d;
    out.slot_stride = out.new_stride * out.b;
    out.new_state = floats(at(node, node) + out.o_b * out.b);
    return nullptr;
}

// As of the gated delta rule, the node has results, then states. K and q are Mamba's B and C.
const char *map_ssm_scan(const ggml_tensor *node, Address at, nw_ssm_scan_op &out) {
    const ggml_tensor *const state = node->src[0], *const x = node->src[1], *dt = node->src[2];
    const ggml_tensor *const a = node->src[3], *const k = node->src[4], *const q = node->src[5];
    if (!are_f32(state, x, dt, a, k, q, node))
        return not_f32;
    if (!fit(state, x, dt, k))
        return too_large;
    out = nw_ssm_scan_op NW_SSM_SCAN_OP_INIT;
    out.n = size(state, 0), out.d = size(state, 1), out.h = size(state, 2);
    out.states = size(state, 3), out.groups = size(k, 1);
    out.tokens = size(x, 2), out.b = size(x, 3);
    out.vector_gate = a->ne[0] != 1;
    out.slots = parameter<uint32_t>(node, 0);
    out.x = floats(at(node, x)), out.dt = floats(at(node, dt)), out.a = floats(at(node, a));
    out.k = floats(at(node, k)), out.q = floats(at(node, q)), out.state = floats(at(node, state));
    out.idx = reinterpret_cast<const int32_t *>(at(node, node->src[6]));
    out.o = floats(at(node, node));
    out.new_state = out.o + ggml_nelements(x);
    out.x_s = x->nb[2], out.x_b = x->nb[3];
    out.k_s = k->nb[2], out.k_b = k->nb[3], out.q_s = q->nb[2], out.q_b = q->nb[3];
    out.state_stride = state->nb[3], out.slot_stride = out.state_stride * out.b;
    return nullptr;
}

// Sources are contiguous: ggml requires it. Sequences follow each other.
const char *map_wkv(const ggml_tensor *node, Address at, nw_wkv_op &out) {
    const bool seventh = node->op == GGML_OP_RWKV_WKV7, sixth = node->op == GGML_OP_RWKV_WKV6;
    const ggml_tensor *const v = node->src[seventh ? 3 : 1];
    const ggml_tensor *const state = node->src[seventh ? 6 : sixth ? 5 : 4];
    if (!is_f32(node))
        return not_f32;
    for (const ggml_tensor *const source : node->src)
        if (source && (!is_f32(source) || !fits(source)))
            return not_f32;
    const auto of = [&](int source) { return floats(at(node, node->src[source])); };
    out = nw_wkv_op NW_WKV_OP_INIT;
    out.d = size(v, 0), out.h = size(v, 1), out.b = size(state, 1);
    out.tokens = size(v, 2) / out.b;
    if (seventh) {
        out.function = NW_RWKV7;
        out.q = of(0), out.g = of(1), out.k = of(2), out.v = of(3);
        out.remove = of(4), out.replace = of(5), out.state = of(6);
    } else {
        out.function = sixth ? NW_RWKV6 : NW_GLA;
        out.k = of(0), out.v = of(1), out.q = of(2);
        if (sixth)
            out.bonus = of(3), out.g = of(4), out.state = of(5);
        else
            out.g = of(3), out.state = of(4), out.scale = parameter<float>(node, 0);
    }
    out.o = floats(at(node, node));
    out.new_state = out.o + ggml_nelements(v);
    return nullptr;
}

} // namespace nw::engine
