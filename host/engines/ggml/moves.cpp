// SPDX-License-Identifier: MIT
#include "engines/ggml/moves.h"

#include <algorithm>
#include <iterator>

namespace nw::engine {

namespace {

template <class Reads>
bool precedes(const ggml_tensor *node, const Reads &reads, const ggml_tensor *written) {
    const auto writes = [&](const ggml_tensor *t) { return t && overlap(node, t); };
    const auto is_read = [&](const ggml_tensor *t) { return t && overlap(t, written); };
    return !writes(written) && std::none_of(std::begin(reads), std::end(reads), writes) &&
           std::none_of(std::begin(node->src), std::end(node->src), is_read);
}

} // namespace

bool overlap(const ggml_tensor *a, const ggml_tensor *b) {
    const char *const x = static_cast<const char *>(a->data);
    const char *const y = static_cast<const char *>(b->data);
    return x < y + ggml_nbytes(b) && y < x + ggml_nbytes(a);
}

bool may_precede(const ggml_tensor *node, std::initializer_list<const ggml_tensor *> reads,
                 const ggml_tensor *written) {
    return precedes(node, reads, written);
}

bool may_precede(const ggml_tensor *node, const ggml_tensor *before) {
    return precedes(node, before->src, before);
}

} // namespace nw::engine
