// SPDX-License-Identifier: MIT
#include "engines/ggml/product.h"

#include <ggml-impl.h>

#include <cstdlib>

#include "engines/ggml/maps.h"

namespace nw::engine {

namespace {

// op_params of both ops (ggml.h: ggml_prec_set_src, ggml_mul_mat_set_hint).
enum { HINT = 1, SRC1_PRECISION = 3 };

bool forbids_int8(const ggml_tensor *op) {
#if NW_GGML_SOURCE_PRECISION
    const int precision = ggml_get_op_params_i32(op, SRC1_PRECISION);
    return precision != GGML_PREC_UNDEFINED && precision < GGML_PREC_Q8;
#else
    return (void)op, false; // this ggml can't say so
#endif
}

bool is_moe(const ggml_tensor *op) { return op->op == GGML_OP_MUL_MAT_ID; }

// The four tensors of a node in libnibblewave's form.
struct Node {
    explicit Node(const ggml_tensor *op)
        : a(NW_GGML_TENSOR(op->src[0])), b(NW_GGML_TENSOR(op->src[1])), c(NW_GGML_TENSOR(op)) {
        if (is_moe(op))
            ids = NW_GGML_TENSOR(op->src[2]);
    }
    nw_ggml_tensor a, b, c, ids{};
};

nw_status prepare(Device &device, const ggml_tensor *op) {
    nw_context *const context = device.context.get();
    if (is_moe(op)) {
        nw_gguf_moe product = NW_GGUF_MOE_INIT;
        product.type = op->src[0]->type;
        return nw_gguf_moe_prepare(context, &product);
    }
    nw_gguf product = NW_GGUF_INIT;
    product.type = op->src[0]->type;
    product.n = static_cast<uint32_t>(op->src[0]->ne[1]);
    product.k = static_cast<uint32_t>(op->src[0]->ne[0]);
    return nw_gguf_prepare(context, &product);
}

// Loads the kernels of the node's type, once; the reason if there are none.
std::string without_kernels(Device &device, const ggml_tensor *op) {
    const std::lock_guard lock(device.mutex);
    const auto key = std::pair(is_moe(op), static_cast<int>(op->src[0]->type));
    const auto found = device.kernels.find(key);
    if (found != device.kernels.end())
        return found->second;
    const std::string why = prepare(device, op) == NW_OK ? "" : nw_last_error();
    return device.kernels.emplace(key, why).first->second;
}

} // namespace

nw_status product_workspace(Device &device, const ggml_tensor *op, uint64_t *bytes) {
    const Node node(op);
    nw_context *const context = device.context.get();
    return is_moe(op) ? nw_ggml_mul_mat_id_workspace_size(context, &node.a, &node.b, &node.ids,
                                                          &node.c, bytes)
                      : nw_ggml_mul_mat_workspace_size(context, &node.a, &node.b, &node.c, bytes);
}

bool is_worth_copying(const ggml_tensor *op) {
    static const int64_t least = [] {
        const char *const asked = std::getenv("GGML_OP_OFFLOAD_MIN_BATCH");
        return asked ? std::atoll(asked) : 32;
    }();
    if (op->op != GGML_OP_MUL_MAT && op->op != GGML_OP_MUL_MAT_ID)
        return false;
    return (is_moe(op) ? op->ne[2] : op->ne[1]) >= least;
}

bool has_blocks(const ggml_tensor *op) { return !has_dense_matrix(op); }

std::string product_refusal(Device &device, const ggml_tensor *op) {
    const Node node(op);
    const char *why = "";
    const bool mapped =
        is_moe(op) ? nw_ggml_supports_mul_mat_id(&node.a, &node.b, &node.ids, &node.c, &why)
                   : nw_ggml_supports_mul_mat(&node.a, &node.b, &node.c, &why);
    if (!mapped)
        return why;
    if (!is_moe(op) && ggml_get_op_params_i32(op, HINT) == GGML_HINT_SRC0_IS_HADAMARD)
        return "src0 is marked as a Hadamard matrix: the CPU has a fast transform";
    if (forbids_int8(op))
        return "src1 may not be quantized to 8 bits, as its precision is set";
    if (std::string none = without_kernels(device, op); !none.empty())
        return none;
    uint64_t bytes = 0;
    return product_workspace(device, op, &bytes) == NW_OK ? "" : nw_last_error();
}

void say_weight_refused(Device &device, const ggml_tensor *op, const std::string &why) {
    const ggml_tensor *const weight = op->src[0];
    const bool offered = weight->buffer && is_memory_of(device, weight->buffer->buft);
    if (!offered)
        return;
    const std::string what = std::string(ggml_type_name(weight->type)) + ": " + why;
    const std::lock_guard lock(device.mutex);
    if (device.said.insert(what).second)
        GGML_LOG_INFO("nibblewave: %s, and weights like it, not on %s: %s\n", weight->name,
                      device.name.c_str(), what.c_str());
}

namespace {

// With rows that a norm converted. NW_UNSUPPORTED if they are not at hand, or the call has no use
// for them.
nw_status launch_converted(Queue &queue, const ggml_tensor *op, const Node &node) {
    const void *const rows = queue.converted.of(op->src[1]);
    if (!rows)
        return NW_UNSUPPORTED;
    nw_context *const context = queue.device.context.get();
    if (is_moe(op)) {
        if (ggml_nrows(op->src[1]) != 1 ||
            nw_ggml_mul_mat_id_refusal(&node.a, &node.b, &node.ids, &node.c))
            return NW_UNSUPPORTED;
        nw_gguf_moe p = nw_ggml_moe_product(&node.a, &node.b, &node.ids, &node.c);
        p.a = rows, p.workspace = queue.workspace, p.workspace_bytes = queue.workspace_bytes;
        return nw_gguf_moe_linear(context, &p, queue.stream);
    }
    int whole = 0;
    if (nw_ggml_mul_mat_refusal(&node.a, &node.b, &node.c))
        return NW_UNSUPPORTED;
    nw_gguf p = nw_ggml_product(&node.a, &node.b, &node.c, &whole);
    if (!whole)
        return NW_UNSUPPORTED;
    p.a = rows, p.x = node.b.data, p.w = node.a.data, p.c = node.c.data;
    p.workspace = queue.workspace, p.workspace_bytes = queue.workspace_bytes;
    return nw_gguf_linear(context, &p, queue.stream);
}

} // namespace

nw_status launch_product(Queue &queue, const ggml_tensor *op, std::string &why) {
    const Node node(op);
    if (launch_converted(queue, op, node) == NW_OK)
        return NW_OK;
    nw_context *const context = queue.device.context.get();
    const nw_status status =
        is_moe(op) ? nw_ggml_mul_mat_id(context, &node.a, &node.b, &node.ids, &node.c,
                                        queue.workspace, queue.workspace_bytes, queue.stream)
                   : nw_ggml_mul_mat(context, &node.a, &node.b, &node.c, queue.workspace,
                                     queue.workspace_bytes, queue.stream);
    if (status == NW_OK)
        return status;
    const char *refused = is_moe(op)
                              ? nw_ggml_mul_mat_id_refusal(&node.a, &node.b, &node.ids, &node.c)
                              : nw_ggml_mul_mat_refusal(&node.a, &node.b, &node.c);
    why = refused ? refused : nw_last_error();
    return status;
}

} // namespace nw::engine
