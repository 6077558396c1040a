// SPDX-License-Identifier: MIT
#include "engines/ggml/converted.h"

#include <ggml-impl.h>

#include <algorithm>

#include "engines/ggml/device.h"
#include "engines/ggml/hip_calls.h"
#include "engines/ggml/node.h"

namespace nw::engine {

namespace {

constexpr uint64_t line = memory_alignment;

uint64_t bytes_of(const ggml_tensor *rows) {
    const auto k = static_cast<uint64_t>(rows->ne[0]);
    return (k + 1023) / 1024 * 1152 * static_cast<uint64_t>(ggml_nrows(rows));
}

} // namespace

bool Converted::reserve(const ggml_cgraph *graph, void *stream, bool &moved) {
    uint64_t bytes = 1;
    for (int i = 0; i < graph->n_nodes; i++)
        if (const ggml_tensor *const node = graph->nodes[i];
            node->op == GGML_OP_RMS_NORM && ggml_nrows(node) <= most_rows)
            bytes = std::max(bytes, bytes_of(node));
    if (memory_ && bytes <= bytes_)
        return true;
    auto *const own = static_cast<hipStream_t>(stream);
    if (!succeeded(hip().hipStreamSynchronize(own), "hipStreamSynchronize"))
        return false;
    release();
    moved = true;
    if (!succeeded(hip().hipMalloc(&memory_, line + bytes), "hipMalloc of converted rows"))
        return false;
    bytes_ = bytes;
    return succeeded(hip().hipMemsetAsync(memory_, 0, line, own), "hipMemsetAsync");
}

void Converted::release() {
    static_cast<void>(hip().hipFree(memory_));
    memory_ = nullptr, bytes_ = 0, of_ = nullptr;
}

void *Converted::place(const ggml_tensor *result) const {
    const bool fits = memory_ && ggml_nrows(result) <= most_rows && bytes_of(result) <= bytes_;
    return fits ? static_cast<char *>(memory_) + line : nullptr;
}

const void *Converted::of(const ggml_tensor *x) const {
    const bool same = of_ && root_of(x) == of_ && x->data == of_->data && x->ne[0] == of_->ne[0] &&
                      ggml_nelements(x) == ggml_nelements(of_) && ggml_is_contiguous(x);
    return same ? static_cast<const char *>(memory_) + line : nullptr;
}

} // namespace nw::engine
