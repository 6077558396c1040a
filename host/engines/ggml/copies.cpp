// SPDX-License-Identifier: MIT
// Ops that are several copies, each into a block of the node.
#include <vector>

#include "engines/ggml/maps.h"

namespace nw::engine {

namespace {

// A copy of all of x into the node, from these elements of it on. Types are the same, and not
// quantized: as of elements that are moved.
nw_copy_op copy_into(const ggml_tensor *node, const ggml_tensor *x, Address at,
                     const int64_t (&from)[4]) {
    nw_copy_op out = nw_copy_op NW_COPY_OP_INIT;
    out.x_type = out.y_type = moved_as(ggml_type_size(x->type));
    const Extent of_x = extent_of(x);
    set_extents(of_x, {of_x.size, extent_of(node).stride}, out);
    char *y = at(node, node);
    for (int d = 0; d < 4; d++)
        y += from[d] * static_cast<int64_t>(node->nb[d]);
    out.x = at(node, x), out.y = y;
    return out;
}

const char *unfit(const ggml_tensor *node, const ggml_tensor *x) {
    if (x->type != node->type || ggml_blck_size(x->type) > 1)
        return "types differ, or are quantized";
    return fits(x) && fits(node) ? nullptr : too_large;
}

} // namespace

const char *map_concat(const ggml_tensor *node, Address at, std::vector<nw_copy_op> &out) {
    int64_t from[4] = {};
    for (int i = 0; i < 2; i++) {
        const ggml_tensor *const x = node->src[i];
        if (const char *const why = unfit(node, x))
            return why;
        if (!ggml_is_empty(x))
            out.push_back(copy_into(node, x, at, from));
        const int dimension = parameter<int32_t>(node, 0);
        from[dimension] = x->ne[dimension];
    }
    return nullptr;
}

// A size of 1 is repeated by a stride of 0, in the same copy; others by a copy for each time.
const char *map_repeat(const ggml_tensor *node, Address at, std::vector<nw_copy_op> &out) {
    constexpr int64_t most = 64; // copies
    ggml_tensor x = *node->src[0];
    if (const char *const why = unfit(node, &x))
        return why;
    for (int d = 0; d < 4; d++)
        if (x.ne[d] == 1)
            x.ne[d] = node->ne[d], x.nb[d] = 0;
    if (ggml_nelements(node) / ggml_nelements(&x) > most)
        return "it is repeated too often";
    int64_t from[4];
    for (from[3] = 0; from[3] < node->ne[3]; from[3] += x.ne[3])
        for (from[2] = 0; from[2] < node->ne[2]; from[2] += x.ne[2])
            for (from[1] = 0; from[1] < node->ne[1]; from[1] += x.ne[1])
                for (from[0] = 0; from[0] < node->ne[0]; from[0] += x.ne[0]) {
                    out.push_back(copy_into(node, &x, at, from));
                    out.back().x = at(node, node->src[0]);
                }
    return nullptr;
}

} // namespace nw::engine
