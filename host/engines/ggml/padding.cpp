// SPDX-License-Identifier: MIT
// Tensors of f32 that are made from indices: PAD, ROLL, TRI, DIAG, DIAG_MASK_INF, FILL, ARANGE.
#include <limits>

#include "engines/ggml/maps.h"

namespace nw::engine {

namespace {

const char *unfit(const ggml_tensor *node) {
    const ggml_tensor *const x = node->src[0];
    if (!is_f32(node) || (x && !is_f32(x)))
        return not_f32;
    return fits(node) && (!x || fits(x)) ? nullptr : too_large;
}

// All of y; of x, if there is one, nothing is left out.
nw_pad_op whole(const ggml_tensor *node, Address at, const ggml_tensor *x) {
    nw_pad_op out = nw_pad_op NW_PAD_OP_INIT;
    out.n0 = size(node, 0), out.n1 = size(node, 1), out.n2 = size(node, 2), out.n3 = size(node, 3);
    out.y_s0 = node->nb[0], out.y_s1 = node->nb[1], out.y_s2 = node->nb[2], out.y_s3 = node->nb[3];
    out.y = at(node, node);
    if (x) {
        out.x_n0 = size(x, 0), out.x_n1 = size(x, 1), out.x_n2 = size(x, 2), out.x_n3 = size(x, 3);
        out.x_s0 = x->nb[0], out.x_s1 = x->nb[1], out.x_s2 = x->nb[2], out.x_s3 = x->nb[3];
        out.x = at(node, x);
    }
    return out;
}

// Where x begins in a dimension of y, if it goes on beyond its ends: 0..n - 1.
uint32_t wrapped(int64_t begin, int64_t n) { return static_cast<uint32_t>((begin % n + n) % n); }

} // namespace

const char *map_pad(const ggml_tensor *node, Address at, nw_pad_op &out) {
    const ggml_tensor *const x = node->src[0];
    if (const char *const why = unfit(node))
        return why;
    out = whole(node, at, x);
    out.wrap = parameter<int32_t>(node, 8) != 0;
    uint32_t *const begins[] = {&out.at0, &out.at1, &out.at2, &out.at3};
    for (int d = 0; d < 4; d++) {
        const auto before = parameter<int32_t>(node, 2 * d);
        if (before < 0 || parameter<int32_t>(node, 2 * d + 1) < 0)
            return "padding is negative";
        *begins[d] = out.wrap ? wrapped(before, x->ne[d]) : static_cast<uint32_t>(before);
    }
    return nullptr;
}

const char *map_roll(const ggml_tensor *node, Address at, nw_pad_op &out) {
    const ggml_tensor *const x = node->src[0];
    if (const char *const why = unfit(node))
        return why;
    out = whole(node, at, x);
    out.wrap = 1;
    uint32_t *const begins[] = {&out.at0, &out.at1, &out.at2, &out.at3};
    for (int d = 0; d < 4; d++)
        *begins[d] = wrapped(parameter<int32_t>(node, d), x->ne[d]);
    return nullptr;
}

// Diagonal n1 - 1 is the main one; those after it are above.
const char *map_tri(const ggml_tensor *node, Address at, nw_pad_op &out) {
    if (const char *const why = unfit(node))
        return why;
    out = whole(node, at, node->src[0]);
    const uint32_t main = out.n1 - 1;
    switch (static_cast<ggml_tri_type>(parameter<int32_t>(node, 0))) {
    case GGML_TRI_TYPE_LOWER:
        return out.count = main, nullptr;
    case GGML_TRI_TYPE_LOWER_DIAG:
        return out.count = main + 1, nullptr;
    case GGML_TRI_TYPE_UPPER:
        return out.first = main + 1, nullptr;
    case GGML_TRI_TYPE_UPPER_DIAG:
        return out.first = main, nullptr;
    }
    return "its triangle is unknown";
}

const char *map_diag(const ggml_tensor *node, Address at, nw_pad_op &out) {
    if (const char *const why = unfit(node))
        return why;
    out = whole(node, at, node->src[0]);
    out.x_n1 = out.n1, out.x_s1 = 0;
    out.first = out.n1 - 1, out.count = 1;
    return nullptr;
}

const char *map_diag_mask(const ggml_tensor *node, Address at, nw_pad_op &out) {
    if (const char *const why = unfit(node))
        return why;
    out = whole(node, at, node->src[0]);
    out.count = out.n1 + static_cast<uint32_t>(parameter<int32_t>(node, 0));
    out.value = -std::numeric_limits<float>::infinity();
    return nullptr;
}

// The node's memory is that of src0, which is not read.
const char *map_fill(const ggml_tensor *node, Address at, nw_pad_op &out) {
    if (const char *const why = unfit(node))
        return why;
    out = whole(node, at, nullptr);
    out.value = parameter<float>(node, 0);
    return nullptr;
}

const char *map_arange(const ggml_tensor *node, Address at, nw_pad_op &out) {
    if (const char *const why = unfit(node))
        return why;
    out = whole(node, at, nullptr);
    out.value = parameter<float>(node, 0), out.increment = parameter<float>(node, 2);
    return nullptr;
}

} // namespace nw::engine
