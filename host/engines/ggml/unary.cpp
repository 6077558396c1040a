// SPDX-License-Identifier: MIT
// Functions of each element.
#include "engines/ggml/maps.h"

namespace nw::engine {

namespace {

// The library's number of the node's function; -1 if it has none.
int unary_of(ggml_unary_op op) {
    switch (op) {
    case GGML_UNARY_OP_ABS:
        return NW_UNARY_ABS;
    case GGML_UNARY_OP_SGN:
        return NW_UNARY_SGN;
    case GGML_UNARY_OP_NEG:
        return NW_UNARY_NEG;
    case GGML_UNARY_OP_STEP:
        return NW_UNARY_STEP;
    case GGML_UNARY_OP_TANH:
        return NW_UNARY_TANH;
    case GGML_UNARY_OP_ELU:
        return NW_UNARY_ELU;
    case GGML_UNARY_OP_RELU:
        return NW_UNARY_RELU;
    case GGML_UNARY_OP_SIGMOID:
        return NW_UNARY_SIGMOID;
    case GGML_UNARY_OP_GELU:
        return NW_UNARY_GELU;
    case GGML_UNARY_OP_GELU_QUICK:
        return NW_UNARY_GELU_QUICK;
    case GGML_UNARY_OP_SILU:
        return NW_UNARY_SILU;
    case GGML_UNARY_OP_HARDSWISH:
        return NW_UNARY_HARDSWISH;
    case GGML_UNARY_OP_HARDSIGMOID:
        return NW_UNARY_HARDSIGMOID;
    case GGML_UNARY_OP_EXP:
        return NW_UNARY_EXP;
    case GGML_UNARY_OP_EXPM1:
        return NW_UNARY_EXPM1;
    case GGML_UNARY_OP_SOFTPLUS:
        return NW_UNARY_SOFTPLUS;
    case GGML_UNARY_OP_GELU_ERF:
        return NW_UNARY_GELU_ERF;
    case GGML_UNARY_OP_XIELU:
        return NW_UNARY_XIELU;
    case GGML_UNARY_OP_FLOOR:
        return NW_UNARY_FLOOR;
    case GGML_UNARY_OP_CEIL:
        return NW_UNARY_CEIL;
    case GGML_UNARY_OP_ROUND:
        return NW_UNARY_ROUND;
    case GGML_UNARY_OP_TRUNC:
        return NW_UNARY_TRUNC;
    default:
        return -1;
    }
}

int function_of(const ggml_tensor *node) {
    switch (node->op) {
    case GGML_OP_UNARY:
        return unary_of(ggml_get_unary_op(node));
    case GGML_OP_SQR:
        return NW_UNARY_SQR;
    case GGML_OP_SQRT:
        return NW_UNARY_SQRT;
    case GGML_OP_LOG:
        return NW_UNARY_LOG;
    case GGML_OP_SIN:
        return NW_UNARY_SIN;
    case GGML_OP_COS:
        return NW_UNARY_COS;
    case GGML_OP_CLAMP:
        return NW_UNARY_CLAMP;
    case GGML_OP_LEAKY_RELU:
        return NW_UNARY_LEAKY_RELU;
    default:
        return -1;
    }
}

void set_parameters(const ggml_tensor *node, nw_unary_op &out) {
    if (out.function == NW_UNARY_CLAMP)
        out.low = parameter<float>(node, 0), out.high = parameter<float>(node, 1);
    else if (out.function == NW_UNARY_LEAKY_RELU)
        out.alpha = parameter<float>(node, 0);
    else if (out.function == NW_UNARY_XIELU) {
        out.alpha = parameter<float>(node, 1), out.alpha_p = parameter<float>(node, 2);
        out.beta = parameter<float>(node, 3), out.eps = parameter<float>(node, 4);
    }
}

} // namespace

const char *map_unary(const ggml_tensor *node, Address at, nw_unary_op &out) {
    const ggml_tensor *const x = node->src[0];
    const int function = function_of(node);
    if (function < 0)
        return "no kernel has this function";
    if (x->type != node->type || (!is_f32(x) && x->type != GGML_TYPE_F16))
        return "a tensor is neither f32 nor f16";
    if (!has_dense_rows(x) || !has_dense_rows(node))
        return transposed;
    const bool one = ggml_is_contiguous(x) && ggml_is_contiguous(node);
    const auto elements = static_cast<uint64_t>(ggml_nelements(x));
    if (!fits(elements))
        return too_many;
    out = nw_unary_op NW_UNARY_OP_INIT;
    out.function = function;
    out.y_type = number_of(x->type);
    set_parameters(node, out);
    out.x = at(node, x), out.y = at(node, node);
    if (one) { // a row
        out.k = static_cast<uint32_t>(elements);
        return nullptr;
    }
    set_sizes(x, out);
    set_strides(x, node, out);
    return nullptr;
}

} // namespace nw::engine
