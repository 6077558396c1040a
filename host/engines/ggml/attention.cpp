// SPDX-License-Identifier: MIT
#include "engines/ggml/attention.h"

#include <cstring>

#include "engines/ggml/maps.h"
#include "engines/ggml/rehearsal.h"

namespace nw::engine {

namespace {

// op_params of the op.
struct Parameters {
    float scale, max_bias, logit_softcap;
};

Parameters parameters_of(const ggml_tensor *op) {
    Parameters out;
    std::memcpy(&out, op->op_params, sizeof out);
    return out;
}

// The tensors of a node in libnibblewave's form.
struct Node {
    explicit Node(const ggml_tensor *op)
        : q(NW_GGML_TENSOR(op->src[0])), k(NW_GGML_TENSOR(op->src[1])),
          v(NW_GGML_TENSOR(op->src[2])), dst(NW_GGML_TENSOR(op)) {
        if (op->src[3])
            mask_tensor = NW_GGML_TENSOR(op->src[3]), mask = &mask_tensor;
        if (op->src[4])
            sinks_tensor = NW_GGML_TENSOR(op->src[4]), sinks = &sinks_tensor;
    }
    Node(const Node &) = delete;

    nw_ggml_tensor q, k, v, dst, mask_tensor{}, sinks_tensor{};
    const nw_ggml_tensor *mask = nullptr, *sinks = nullptr;
};

// Loads the kernels of nw_attention_masked for heads of this length, once; the reason if there are
// none.
std::string without_kernels(Device &device, uint32_t d) {
    const std::lock_guard lock(device.mutex);
    const auto found = device.attention.find(d);
    if (found != device.attention.end())
        return found->second;
    nw_attn_masked attention = NW_ATTN_MASKED_INIT;
    attention.d = d;
    const bool loaded = nw_attention_masked_prepare(device.context.get(), &attention) == NW_OK;
    return device.attention.emplace(d, loaded ? "" : nw_last_error()).first->second;
}

// Whether nw_attention_masked takes the node: it is faster for many queries.
bool is_masked(Device &device, const ggml_tensor *op) {
    const Node node(op);
    const Parameters p = parameters_of(op);
    return !nw_ggml_flash_attn_ext_refusal(&node.q, &node.k, &node.v, node.mask, node.sinks,
                                           &node.dst, p.max_bias, p.logit_softcap) &&
           without_kernels(device, static_cast<uint32_t>(op->src[0]->ne[0])).empty();
}

// Rows of k or v: one sequence's for all, or each its own.
const char *sequences(const ggml_tensor *q, const ggml_tensor *x, uint64_t &stride) {
    if (x->ne[3] != 1 && x->ne[3] != q->ne[3])
        return "keys and values must have one batch, or the number of batches of the queries";
    stride = x->ne[3] == 1 ? 0 : x->nb[3];
    return nullptr;
}

const char *unfit(const ggml_tensor *node) {
    const ggml_tensor *const q = node->src[0], *const k = node->src[1], *const v = node->src[2],
                             *const mask = node->src[3], *const sinks = node->src[4];
    if (!is_f32(q) || !is_f32(node) || (sinks && !is_f32(sinks)))
        return not_f32;
    if (mask && mask->type != GGML_TYPE_F16)
        return "the mask must be f16";
    for (const ggml_tensor *const t : {q, k, v, mask})
        if (t && (!has_dense_rows(t) || !fits(t)))
            return fits(t) ? transposed : too_large;
    if (v->ne[2] != k->ne[2])
        return "keys and values must have the same heads";
    return nullptr;
}

// The node as nw_flash_attention has it; the reason if it can't be passed.
const char *map_attention(const ggml_tensor *node, Address at, nw_flash_attention_op &out) {
    if (const char *const why = unfit(node))
        return why;
    const ggml_tensor *const q = node->src[0], *const k = node->src[1], *const v = node->src[2],
                             *const mask = node->src[3], *const sinks = node->src[4];
    const Parameters p = parameters_of(node);
    out = nw_flash_attention_op NW_FLASH_ATTENTION_OP_INIT;
    out.k_type = k->type, out.v_type = v->type;
    out.d = size(q, 0), out.sq = size(q, 1), out.h = size(q, 2), out.b = size(q, 3);
    out.sk = size(k, 1), out.hk = size(k, 2), out.d_v = size(v, 0);
    out.scale = p.scale, out.max_bias = p.max_bias, out.softcap = p.logit_softcap;
    out.q = reinterpret_cast<const float *>(at(node, q));
    out.k = at(node, k), out.v = at(node, v);
    out.o = reinterpret_cast<float *>(at(node, node));
    out.q_s = q->nb[1], out.q_h = q->nb[2], out.q_b = q->nb[3];
    out.k_s = k->nb[1], out.k_h = k->nb[2];
    out.v_s = v->nb[1], out.v_h = v->nb[2];
    out.o_h = node->nb[1], out.o_s = node->nb[2], out.o_b = node->nb[3];
    if (mask) {
        out.mask = at(node, mask);
        out.mask_n2 = size(mask, 2), out.mask_n3 = size(mask, 3);
        out.mask_s = mask->nb[1], out.mask_h = mask->nb[2], out.mask_b = mask->nb[3];
    }
    if (sinks)
        out.sinks = reinterpret_cast<const float *>(at(node, sinks));
    const char *const why = sequences(q, k, out.k_b);
    return why ? why : sequences(q, v, out.v_b);
}

nw_status workspace_of(Device &device, const ggml_tensor *op, Address at, uint64_t *bytes) {
    nw_flash_attention_op out;
    if (map_attention(op, at, out))
        return NW_UNSUPPORTED;
    return nw_flash_attention_workspace_size(device.context.get(), &out, bytes);
}

// Why nw_flash_attention refuses the node.
std::string flash_refusal(Device &device, const ggml_tensor *op) {
    return remembered(
        device, op, reinterpret_cast<const void *>(map_attention), [&]() -> std::string {
            nw_flash_attention_op out;
            if (const char *const unmapped = map_attention(op, imagined, out))
                return unmapped;
            nw_context *const context = device.context.get();
            return rehearse(
                device, [&] { return nw_flash_attention_prepare(context, &out); },
                [&](void *stream) {
                    uint64_t bytes = 0;
                    if (const nw_status status = workspace_of(device, op, imagined, &bytes);
                        status != NW_OK)
                        return status;
                    out.workspace = reinterpret_cast<void *>(uint64_t{1} << 40); // like the tensors
                    out.workspace_bytes = bytes;
                    return nw_flash_attention(context, &out, stream);
                });
        });
}

} // namespace

std::string attention_refusal(Device &device, const ggml_tensor *op) {
    if (!may_be_ours(device, op->src[1]) || !may_be_ours(device, op->src[2]))
        return "keys and values are in memory of another device";
    if (is_masked(device, op)) {
        uint64_t bytes = 0;
        return attention_workspace(device, op, &bytes) == NW_OK ? "" : nw_last_error();
    }
    const std::string why = flash_refusal(device, op);
    return why.empty() ? why
                       : why + " (k and v are " + ggml_type_name(op->src[1]->type) + " and " +
                             ggml_type_name(op->src[2]->type) + ")";
}

nw_status attention_workspace(Device &device, const ggml_tensor *op, uint64_t *bytes) {
    if (!is_masked(device, op))
        return workspace_of(device, op, imagined, bytes);
    const Node node(op);
    return nw_ggml_flash_attn_ext_workspace_size(device.context.get(), &node.q, &node.k, &node.v,
                                                 node.mask, node.sinks, &node.dst, bytes);
}

nw_status launch_attention(Queue &queue, const ggml_tensor *op, std::string &why) {
    nw_context *const context = queue.device.context.get();
    nw_status status = NW_UNSUPPORTED;
    if (is_masked(queue.device, op)) {
        const Node node(op);
        status = nw_ggml_flash_attn_ext(context, &node.q, &node.k, &node.v, node.mask, node.sinks,
                                        &node.dst, parameters_of(op).scale, queue.workspace,
                                        queue.workspace_bytes, queue.stream);
    } else {
        nw_flash_attention_op out;
        if (const char *const unmapped = map_attention(op, allocated, out))
            return why = unmapped, NW_UNSUPPORTED;
        out.workspace = queue.workspace, out.workspace_bytes = queue.workspace_bytes;
        status = nw_flash_attention(context, &out, queue.stream);
    }
    if (status != NW_OK)
        why = nw_last_error();
    return status;
}

} // namespace nw::engine
