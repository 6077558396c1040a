// SPDX-License-Identifier: MIT
#include "engines/ggml/attention.h"

#include <cstring>

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

// Loads the kernels for heads of this length, once; the reason if there are none.
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

} // namespace

std::string attention_refusal(Device &device, const ggml_tensor *op) {
    const Node node(op);
    const Parameters p = parameters_of(op);
    if (const char *const why =
            nw_ggml_flash_attn_ext_refusal(&node.q, &node.k, &node.v, node.mask, node.sinks,
                                           &node.dst, p.max_bias, p.logit_softcap)) {
        const std::string types = std::string(ggml_type_name(op->src[1]->type)) + " and " +
                                  ggml_type_name(op->src[2]->type);
        return std::string(why) + " (k and v are " + types + ")";
    }
    if (!may_be_ours(device, op->src[1]) || !may_be_ours(device, op->src[2]))
        return "keys and values are in memory of another device";
    if (std::string none = without_kernels(device, static_cast<uint32_t>(op->src[0]->ne[0]));
        !none.empty())
        return none;
    uint64_t bytes = 0;
    return attention_workspace(device, op, &bytes) == NW_OK ? "" : nw_last_error();
}

nw_status attention_workspace(Device &device, const ggml_tensor *op, uint64_t *bytes) {
    const Node node(op);
    return nw_ggml_flash_attn_ext_workspace_size(device.context.get(), &node.q, &node.k, &node.v,
                                                 node.mask, node.sinks, &node.dst, bytes);
}

nw_status launch_attention(Queue &queue, const ggml_tensor *op, std::string &why) {
    const Node node(op);
    const Parameters p = parameters_of(op);
    const nw_status status = nw_ggml_flash_attn_ext(
        queue.device.context.get(), &node.q, &node.k, &node.v, node.mask, node.sinks, &node.dst,
        p.scale, queue.workspace, queue.workspace_bytes, queue.stream);
    if (status == NW_OK)
        return status;
    const char *const refused = nw_ggml_flash_attn_ext_refusal(
        &node.q, &node.k, &node.v, node.mask, node.sinks, &node.dst, p.max_bias, p.logit_softcap);
    why = refused ? refused : nw_last_error();
    return status;
}

} // namespace nw::engine
