// SPDX-License-Identifier: MIT
// A node of ggml's graph, with its tensors, as operands of libnibblewave's calls.
#pragma once
#include <ggml-backend.h>
#include <ggml.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <nibblewave_ggml.h>

namespace nw::engine {

// Address of one of a node's tensors, which may be the node itself.
using Address = char *(*)(const ggml_tensor *node, const ggml_tensor *tensor);

inline char *allocated(const ggml_tensor *, const ggml_tensor *tensor) {
    return static_cast<char *>(tensor->data);
}

// For nodes without memory, as supports_op meets them: an address with the alignment that the
// tensor will have in a buffer. Views of one tensor overlap as they will.
char *imagined(const ggml_tensor *node, const ggml_tensor *tensor);

// The tensor of which this one is a view, or itself.
inline const ggml_tensor *root_of(const ggml_tensor *tensor) {
    return tensor->view_src ? tensor->view_src : tensor;
}

// The n-th of op_params.
template <class T> T parameter(const ggml_tensor *node, int n) {
    T out;
    std::memcpy(&out, node->op_params + n, sizeof out);
    return out;
}

// Whether the elements of a row follow each other.
inline bool has_dense_rows(const ggml_tensor *t) {
    return t->ne[0] == 1 || t->nb[0] == ggml_type_size(t->type);
}

// All rows of a tensor; rows = 0 if their stride is not uniform.
inline nw_ggml_rows rows_of(const ggml_tensor *t) {
    const nw_ggml_tensor same = NW_GGML_TENSOR(t);
    return nw_ggml_rows_of(&same, static_cast<uint64_t>(t->ne[0]) * ggml_type_size(t->type));
}

// Whether it is in a buffer of a model's weights.
inline bool has_weights(const ggml_tensor *t) {
    const ggml_backend_buffer_t buffer = root_of(t)->buffer;
    return buffer && ggml_backend_buffer_get_usage(buffer) == GGML_BACKEND_BUFFER_USAGE_WEIGHTS;
}

// The other operand of a node with two.
inline const ggml_tensor *operand_beside(const ggml_tensor *node, const ggml_tensor *one) {
    return node->src[node->src[0] == one ? 1 : 0];
}

inline bool is_f32(const ggml_tensor *t) { return t->type == GGML_TYPE_F32; }

} // namespace nw::engine
