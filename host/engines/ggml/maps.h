// SPDX-License-Identifier: MIT
// Nodes as operands of one call of libnibblewave. A map returns why its call can't be given the
// node, or null. Whether the call takes the operands is for the library to say (rehearsal.h).
#pragma once
#include <limits>

#include <nibblewave.h>

#include "engines/ggml/node.h"

namespace nw::engine {

// Reasons that several maps have.
inline constexpr const char *not_f32 = "a tensor is not f32";
inline constexpr const char *transposed = "elements of a row are apart: make it contiguous";
inline constexpr const char *uneven = "rows have no uniform stride: make them contiguous";
inline constexpr const char *too_large = "a dimension has 2^32 or more elements";

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

// elementwise.cpp
const char *map_rms_norm(const ggml_tensor *node, Address, nw_norm &);
const char *map_binary(const ggml_tensor *node, Address, nw_binary_op &);
const char *map_scale(const ggml_tensor *node, Address, nw_scale_op &);
const char *map_glu(const ggml_tensor *node, Address, nw_glu_op &);

} // namespace nw::engine
