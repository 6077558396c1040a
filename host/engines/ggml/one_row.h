// SPDX-License-Identifier: MIT
// Products of one row and of a few, as the fused ones take them.
#pragma once
#include "engines/ggml/queue.h"

struct ggml_cgraph;

namespace nw::engine {

// Whether it is of one token, and of weights whose experts and rows the calls express.
bool is_of_one_token(const ggml_tensor *product);

// Whether it is a MUL_MAT of 1 to 8 rows that nw_gguf_joint_linear expresses.
bool is_of_few_rows(const ggml_tensor *product);

// The product without its addend and activation, for nw_gguf_moe_act_linear.
nw_gguf_moe_act operand_of(Queue &, const ggml_tensor *product);

// The addition of a matrix of the product's shape behind it, or behind a reshape of its result,
// that alone reads it; none if there is another node.
struct Sum {
    const ggml_tensor *result = nullptr;
    const float *addend = nullptr;
    int nodes = 0; // from the product on

    explicit operator bool() const { return result; }
};
Sum sum_behind(const ggml_cgraph *, int product);

// Whether the launch reads x itself, where it writes the result: other workgroups still read it.
bool writes_its_row(const nw_gguf_moe_act &operand, const ggml_tensor *x, const ggml_tensor *c);

// Whether two products are of the same rows, by the same experts if there are any, and by weights
// of one type, shape and layout.
bool are_alike(const ggml_tensor *gate, const ggml_tensor *up);

// Queues the launch; its nodes, or 0 if the library refuses it.
int launched(Queue &, const nw_gguf_moe_act &operand, int nodes);

// A norm in front of products: x divided by its root mean square, times weights.
struct NormedRow {
    const ggml_tensor *norm = nullptr, *product = nullptr;

    explicit operator bool() const { return norm; }
    const ggml_tensor *x() const { return norm->src[0]; }
    bool is(const ggml_tensor *row) const; // itself, or reshaped
    const float *weights() const;
    float eps() const;
};

// The norm of one row at these two nodes, which `uses` nodes read and no others; none if it is not
// one.
NormedRow normed_row(const ggml_cgraph *, int first, int uses);

} // namespace nw::engine
