// SPDX-License-Identifier: MIT
// Nodes as operands of one call of libnibblewave. A map returns why its call can't be given the
// node, or null. Whether the call takes the operands is for the library to say (rehearsal.h).
#pragma once
#include <array>
#include <limits>
#include <vector>

#include <nibblewave.h>

#include "engines/ggml/node.h"

namespace nw::engine {

// Reasons that several maps have.
inline constexpr const char *not_f32 = "a tensor is not f32";
inline constexpr const char *transposed = "elements of a row are apart: make it contiguous";
inline constexpr const char *uneven = "rows have no uniform stride: make them contiguous";
inline constexpr const char *too_large = "a dimension has 2^32 or more elements";
inline constexpr const char *too_many = "the tensor has 2^32 or more elements";
inline constexpr const char *not_contiguous = "a tensor is not contiguous";

inline bool fits(uint64_t size) { return size <= std::numeric_limits<uint32_t>::max(); }

inline bool fits(const ggml_tensor *t) {
    for (const int64_t size : t->ne)
        if (!fits(static_cast<uint64_t>(size)))
            return false;
    return true;
}

// A size of a tensor that fits().
inline uint32_t size(const ggml_tensor *t, int dimension) {
    return static_cast<uint32_t>(t->ne[dimension]);
}

// The library's number of f32, f16, bf16 and i32; -1 for others.
int number_of(ggml_type);

// Sizes of x: elements of a row, and rows in three dimensions.
template <class Op> void set_sizes(const ggml_tensor *x, Op &out) {
    out.k = size(x, 0), out.n1 = size(x, 1), out.n2 = size(x, 2), out.n3 = size(x, 3);
}

// Strides of the rows of x and y in three dimensions.
template <class Op> void set_strides(const ggml_tensor *x, const ggml_tensor *y, Op &out) {
    out.x_s1 = x->nb[1], out.x_s2 = x->nb[2], out.x_s3 = x->nb[3];
    out.y_s1 = y->nb[1], out.y_s2 = y->nb[2], out.y_s3 = y->nb[3];
}

// elementwise.cpp
const char *map_rms_norm(const ggml_tensor *node, Address, nw_norm &);
const char *map_binary(const ggml_tensor *node, Address, nw_binary_op &);
const char *map_scale(const ggml_tensor *node, Address, nw_scale_op &);
const char *map_glu(const ggml_tensor *node, Address, nw_glu_op &);

// unary.cpp: UNARY, SQR, SQRT, LOG, SIN, COS, CLAMP, LEAKY_RELU
const char *map_unary(const ggml_tensor *node, Address, nw_unary_op &);

// reductions.cpp
const char *map_soft_max(const ggml_tensor *node, Address, nw_soft_max_op &);
const char *map_norm_rows(const ggml_tensor *node, Address, nw_norm_rows_op &);
const char *map_group_norm(const ggml_tensor *node, Address, nw_norm_rows_op &);
const char *map_sum_rows(const ggml_tensor *node, Address, nw_sum_rows_op &); // SUM_ROWS, MEAN
const char *map_cumsum(const ggml_tensor *node, Address, nw_cumsum_op &);
const char *map_sum(const ggml_tensor *node, Address, nw_sum_rows_op &);
const char *map_argmax(const ggml_tensor *node, Address, nw_argmax_op &);
const char *map_argsort(const ggml_tensor *node, Address, nw_argsort_op &); // ARGSORT, TOP_K
const char *map_add_id(const ggml_tensor *node, Address, nw_add_id_op &);

// rows.cpp. CPY, CONT and DUP are one of three calls, by types.
bool is_copy(const ggml_tensor *node);
bool is_quantization(const ggml_tensor *node);
bool is_dequantization(const ggml_tensor *node);
const char *map_copy(const ggml_tensor *node, Address, nw_copy_op &);
const char *map_quantization(const ggml_tensor *node, Address, nw_set_rows_op &);
const char *map_dequantization(const ggml_tensor *node, Address, nw_get_rows_op &);
const char *map_get_rows(const ggml_tensor *node, Address, nw_get_rows_op &);
const char *map_set_rows(const ggml_tensor *node, Address, nw_set_rows_op &);

// Sizes and strides of a tensor as a copy has them; of blocks, whose rows are contiguous, in words
// of 16 bits.
struct Extent {
    std::array<uint32_t, 4> size;
    std::array<uint64_t, 4> stride;
};
Extent extent_of(const ggml_tensor *);
void set_extents(const Extent &x, const Extent &y, nw_copy_op &);

int moved_as(std::size_t bytes); // the type of elements that are moved; -1 for other sizes

// copies.cpp: ops that are several copies
const char *map_concat(const ggml_tensor *node, Address, std::vector<nw_copy_op> &);
const char *map_repeat(const ggml_tensor *node, Address, std::vector<nw_copy_op> &);

// states.cpp
const char *map_ssm_conv(const ggml_tensor *node, Address, nw_ssm_conv_op &);
const char *map_gated_delta_net(const ggml_tensor *node, Address, nw_gated_delta_op &);
const char *map_ssm_scan(const ggml_tensor *node, Address, nw_ssm_scan_op &);
const char *map_wkv(const ggml_tensor *node, Address, nw_wkv_op &); // RWKV_WKV6 and 7, gla

// padding.cpp
const char *map_pad(const ggml_tensor *node, Address, nw_pad_op &);
const char *map_roll(const ggml_tensor *node, Address, nw_pad_op &);
const char *map_tri(const ggml_tensor *node, Address, nw_pad_op &);
const char *map_diag(const ggml_tensor *node, Address, nw_pad_op &);
const char *map_diag_mask(const ggml_tensor *node, Address, nw_pad_op &);
const char *map_fill(const ggml_tensor *node, Address, nw_pad_op &);
const char *map_arange(const ggml_tensor *node, Address, nw_pad_op &);

// dense.cpp
bool has_dense_matrix(const ggml_tensor *product);
const char *map_dense(const ggml_tensor *node, Address, nw_dense_op &);
const char *map_dense_experts(const ggml_tensor *node, Address, nw_dense_op &);

} // namespace nw::engine
