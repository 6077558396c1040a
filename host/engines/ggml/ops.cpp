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
    return remembered(device, node, reinterpret_cast<const void *>(map), [&]() -> std::string {
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
constexpr auto unary = one_call<map_unary, nw_unary_prepare, nw_unary>;
constexpr auto norm_rows = one_call<map_norm_rows, nw_norm_rows_prepare, nw_norm_rows>;
constexpr auto sum_rows = one_call<map_sum_rows, nw_sum_rows_prepare, nw_sum_rows>;
constexpr auto argsort = one_call<map_argsort, nw_argsort_prepare, nw_argsort>;
constexpr auto copy = one_call<map_copy, nw_copy_prepare, nw_copy>;
constexpr auto quantization = one_call<map_quantization, nw_set_rows_prepare, nw_set_rows>;
constexpr auto dequantization = one_call<map_dequantization, nw_get_rows_prepare, nw_get_rows>;
constexpr auto dense = one_call<map_dense, nw_dense_prepare, nw_dense>;
constexpr auto dense_experts = one_call<map_dense_experts, nw_dense_prepare, nw_dense>;

template <auto map> constexpr auto padding = one_call<map, nw_pad_prepare, nw_pad>;
constexpr auto wkv = one_call<map_wkv, nw_wkv_prepare, nw_wkv>;

template <auto map> std::string refusal_of_copies(Device &device, const ggml_tensor *node) {
    return remembered(device, node, reinterpret_cast<const void *>(map), [&]() -> std::string {
        std::vector<nw_copy_op> copies;
        if (const char *const unmapped = map(node, imagined, copies))
            return unmapped;
        nw_context *const context = device.context.get();
        for (const nw_copy_op &one : copies)
            if (std::string why = rehearse(
                    device, [&] { return nw_copy_prepare(context, &one); },
                    [&](void *stream) { return nw_copy(context, &one, stream); });
                !why.empty())
                return why;
        return {};
    });
}

template <auto map>
nw_status launch_copies(Queue &queue, const ggml_tensor *node, std::string &why) {
    std::vector<nw_copy_op> copies;
    if (const char *const unmapped = map(node, allocated, copies))
        return why = unmapped, NW_UNSUPPORTED;
    for (const nw_copy_op &one : copies)
        if (const nw_status status = nw_copy(queue.device.context.get(), &one, queue.stream);
            status != NW_OK)
            return why = nw_last_error(), status;
    return NW_OK;
}

// Rows of an op follow each other.
const Row rows[] = {
    dense(GGML_OP_MUL_MAT, has_dense_matrix),
    {GGML_OP_MUL_MAT, product_refusal, launch_product, product_workspace, has_blocks,
     say_weight_refused},
    dense_experts(GGML_OP_MUL_MAT_ID, has_dense_matrix),
    {GGML_OP_MUL_MAT_ID, product_refusal, launch_product, product_workspace, has_blocks,
     say_weight_refused},
    {GGML_OP_FLASH_ATTN_EXT, attention_refusal, launch_attention, attention_workspace, nullptr},
    {GGML_OP_ROPE, rope_refusal, launch_rope, nullptr, nullptr},
    one_call<map_rms_norm, nw_rms_norm_prepare, nw_rms_norm>(GGML_OP_RMS_NORM),
    norm_rows(GGML_OP_RMS_NORM),
    norm_rows(GGML_OP_NORM),
    norm_rows(GGML_OP_L2_NORM),
    one_call<map_group_norm, nw_norm_rows_prepare, nw_norm_rows>(GGML_OP_GROUP_NORM),
    binary(GGML_OP_ADD),
    binary(GGML_OP_SUB),
    binary(GGML_OP_MUL),
    binary(GGML_OP_DIV),
    one_call<map_add_id, nw_add_id_prepare, nw_add_id>(GGML_OP_ADD_ID),
    one_call<map_scale, nw_scale_prepare, nw_scale>(GGML_OP_SCALE),
    one_call<map_glu, nw_glu_prepare, nw_glu>(GGML_OP_GLU),
    unary(GGML_OP_UNARY),
    unary(GGML_OP_SQR),
    unary(GGML_OP_SQRT),
    unary(GGML_OP_LOG),
    unary(GGML_OP_SIN),
    unary(GGML_OP_COS),
    unary(GGML_OP_CLAMP),
    unary(GGML_OP_LEAKY_RELU),
    one_call<map_soft_max, nw_soft_max_prepare, nw_soft_max>(GGML_OP_SOFT_MAX),
    sum_rows(GGML_OP_SUM_ROWS),
    sum_rows(GGML_OP_MEAN),
    one_call<map_sum, nw_sum_rows_prepare, nw_sum_rows>(GGML_OP_SUM),
    one_call<map_cumsum, nw_cumsum_prepare, nw_cumsum>(GGML_OP_CUMSUM),
    one_call<map_argmax, nw_argmax_prepare, nw_argmax>(GGML_OP_ARGMAX),
    argsort(GGML_OP_ARGSORT),
    argsort(GGML_OP_TOP_K),
    copy(GGML_OP_CPY, is_copy),
    quantization(GGML_OP_CPY, is_quantization),
    dequantization(GGML_OP_CPY, is_dequantization),
    copy(GGML_OP_CONT, is_copy),
    copy(GGML_OP_DUP, is_copy),
    {GGML_OP_CONCAT, refusal_of_copies<map_concat>, launch_copies<map_concat>, nullptr, nullptr},
    {GGML_OP_REPEAT, refusal_of_copies<map_repeat>, launch_copies<map_repeat>, nullptr, nullptr},
    one_call<map_get_rows, nw_get_rows_prepare, nw_get_rows>(GGML_OP_GET_ROWS),
    one_call<map_set_rows, nw_set_rows_prepare, nw_set_rows>(GGML_OP_SET_ROWS),
    one_call<map_ssm_conv, nw_ssm_conv_prepare, nw_ssm_conv>(GGML_OP_SSM_CONV),
    one_call<map_gated_delta_net, nw_gated_delta_net_prepare, nw_gated_delta_net>(
        GGML_OP_GATED_DELTA_NET),
    one_call<map_ssm_scan, nw_ssm_scan_prepare, nw_ssm_scan>(GGML_OP_SSM_SCAN),
    wkv(GGML_OP_RWKV_WKV6),
    wkv(GGML_OP_RWKV_WKV7),
    wkv(GGML_OP_GATED_LINEAR_ATTN),
    padding<map_pad>(GGML_OP_PAD),
    padding<map_roll>(GGML_OP_ROLL),
    padding<map_tri>(GGML_OP_TRI),
    padding<map_diag>(GGML_OP_DIAG),
    padding<map_diag_mask>(GGML_OP_DIAG_MASK_INF),
    padding<map_fill>(GGML_OP_FILL),
    padding<map_arange>(GGML_OP_ARANGE),
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
    if (ggml_op_is_empty(node->op) || ggml_is_empty(node))
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
