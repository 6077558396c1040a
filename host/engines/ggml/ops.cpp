// SPDX-License-Identifier: MIT
#include "engines/ggml/ops.h"

#include <ggml-impl.h>

#include <array>

#include "engines/ggml/attention.h"
#include "engines/ggml/maps.h"
#include "engines/ggml/product.h"
#include "engines/ggml/rehearsal.h"
#include "engines/ggml/rope.h"

namespace nw::engine {

namespace {

// A way to compute an op. Where an op has several, the first that supports a node takes it.
struct Row {
    ggml_op op;
    std::string (*refusal)(Device &, const ggml_tensor *node); // "": the device computes it
    nw_status (*launch)(Queue &, const ggml_tensor *node, std::string &why);
    nw_status (*workspace)(Device &, const ggml_tensor *node, uint64_t *bytes); // null: needs none
    bool (*takes)(const ggml_tensor *node);                                     // null: any node
    void (*say)(Device &, const ggml_tensor *node, const std::string &why) = say_refused;
};

// The struct of a call of libnibblewave.
template <class Struct> Struct operand_of(nw_status (*)(nw_context *, const Struct *, void *));

template <auto map, auto prepare, auto call>
std::string refusal_of_call(Device &device, const ggml_tensor *node) {
    return remembered(device, node, [&]() -> std::string {
        decltype(operand_of(call)) operand;
        if (const char *const unmapped = map(node, imagined, operand))
            return unmapped;
        nw_context *const context = device.context.get();
        return rehearse(
            device, [&] { return prepare(context, &operand); },
            [&](void *stream) { return call(context, &operand, stream); });
    });
}

template <auto map, auto call>
nw_status launch_call(Queue &queue, const ggml_tensor *node, std::string &why) {
    decltype(operand_of(call)) operand;
    if (const char *const unmapped = map(node, allocated, operand))
        return why = unmapped, NW_UNSUPPORTED;
    const nw_status status = call(queue.device.context.get(), &operand, queue.stream);
    if (status != NW_OK)
        why = nw_last_error();
    return status;
}

using Takes = bool(const ggml_tensor *node);

// An op that is one call of libnibblewave.
template <auto map, auto prepare, auto call> struct OneCall {
    constexpr Row operator()(ggml_op op, Takes *takes = nullptr) const {
        return {op, refusal_of_call<map, prepare, call>, launch_call<map, call>, nullptr, takes};
    }
};

template <auto map, auto prepare, auto call> constexpr OneCall<map, prepare, call> one_call{};

constexpr auto binary = one_call<map_binary, nw_binary_prepare, nw_binary>;

// Rows of an op follow each other.
const Row rows[] = {
    {GGML_OP_MUL_MAT, product_refusal, launch_product, product_workspace, nullptr,
     say_weight_refused},
    {GGML_OP_MUL_MAT_ID, product_refusal, launch_product, product_workspace, nullptr,
     say_weight_refused},
    {GGML_OP_FLASH_ATTN_EXT, attention_refusal, launch_attention, attention_workspace, nullptr},
    {GGML_OP_ROPE, rope_refusal, launch_rope, nullptr, nullptr},
    one_call<map_rms_norm, nw_rms_norm_prepare, nw_rms_norm>(GGML_OP_RMS_NORM),
    binary(GGML_OP_ADD),
    binary(GGML_OP_SUB),
    binary(GGML_OP_MUL),
    binary(GGML_OP_DIV),
    one_call<map_scale, nw_scale_prepare, nw_scale>(GGML_OP_SCALE),
    one_call<map_glu, nw_glu_prepare, nw_glu>(GGML_OP_GLU),
};

struct Range {
    const Row *begin() const { return first; }
    const Row *end() const { return past; }
    const Row *first = nullptr, *past = nullptr;
};

Range rows_for(ggml_op op) {
    static const auto by_op = [] {
        std::array<Range, GGML_OP_COUNT> out{};
        for (const Row &row : rows) {
            Range &range = out[row.op];
            range = {range.first ? range.first : &row, &row + 1};
        }
        return out;
    }();
    return by_op[op];
}

// Whether the row may compute the node at all.
bool is_for(const Row &row, const ggml_tensor *node) { return !row.takes || row.takes(node); }

// A matrix that lies elsewhere, such as a KV cache of the CPU, is copied for every graph.
bool reads_elsewhere(const Device &device, const ggml_tensor *node) {
    if (node->op != GGML_OP_MUL_MAT && node->op != GGML_OP_MUL_MAT_ID)
        return false;
    const ggml_tensor *const matrix = node->src[0];
    return !may_be_ours(device, matrix) && !(has_weights(matrix) && is_worth_copying(node));
}

} // namespace

bool supports(Device &device, const ggml_tensor *node) {
    if (ggml_op_is_empty(node->op))
        return true;
    if (reads_elsewhere(device, node))
        return false;
    const Row *last = nullptr;
    std::string why;
    for (const Row &row : rows_for(node->op))
        if (is_for(row, node)) {
            why = row.refusal(device, node);
            if (why.empty())
                return true;
            last = &row;
        }
    if (last)
        last->say(device, node, why);
    return false;
}

bool has_workspace(const ggml_tensor *node) {
    for (const Row &row : rows_for(node->op))
        if (row.workspace && is_for(row, node))
            return true;
    return false;
}

uint64_t workspace_bytes(Device &device, const ggml_tensor *node) {
    uint64_t bytes = 0;
    for (const Row &row : rows_for(node->op))
        if (row.workspace && is_for(row, node) && row.workspace(device, node, &bytes) == NW_OK)
            return bytes;
    return 0;
}

nw_status launch(Queue &queue, const ggml_tensor *node, std::string &why) {
    nw_status status = NW_UNSUPPORTED;
    for (const Row &row : rows_for(node->op)) {
        if (!is_for(row, node))
            continue;
        status = row.launch(queue, node, why);
        if (status != NW_INVALID_ARGUMENT && status != NW_UNSUPPORTED)
            return status;
    }
    return status;
}

bool computes_nothing(const ggml_tensor *node) {
    return ggml_op_is_empty(node->op) || ggml_is_empty(node) ||
           !(node->flags & GGML_TENSOR_FLAG_COMPUTE);
}

bool is_known(const ggml_tensor *node) { return rows_for(node->op).first != nullptr; }

} // namespace nw::engine
