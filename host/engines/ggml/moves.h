// SPDX-License-Identifier: MIT
// Whether nodes may run in another order. ggml reuses memory: a node may overwrite an operand of an
// earlier node, or read its result.
#pragma once
#include <initializer_list>

#include <ggml.h>

namespace nw::engine {

// Whether two tensors share bytes.
bool overlap(const ggml_tensor *, const ggml_tensor *);

// Whether the node may run before one that was queued before it, which reads and writes these.
// Null ones are none.
bool may_precede(const ggml_tensor *node, std::initializer_list<const ggml_tensor *> reads,
                 const ggml_tensor *written);

// Whether it may run before that node.
bool may_precede(const ggml_tensor *node, const ggml_tensor *before);

} // namespace nw::engine
