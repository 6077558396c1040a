// SPDX-License-Identifier: MIT
// Rows that a norm converted to int8 beside its own result, for all products that read them.
#pragma once
#include <ggml.h>

#include <cstdint>

struct ggml_cgraph;

namespace nw::engine {

class Converted {
public:
    static constexpr int64_t most_rows = 8; // nibblewave.h: nw_gguf.a

    // Makes memory sufficient for the norms of a graph; may wait for the stream, and then sets
    // `moved`. False, and logs, if HIP fails.
    bool reserve(const ggml_cgraph *, void *stream, bool &moved);
    void release();

    // The memory for the rows of a norm's result; null if there is too little.
    void *place(const ggml_tensor *result) const;
    // They are those of this result, from now on.
    void hold(const ggml_tensor *result) { of_ = result; }
    void forget() { of_ = nullptr; }
    // To be called with each node that is queued: it may write the rows again.
    void written(const ggml_tensor *node) {
        if (of_ && node->view_src == of_)
            forget();
    }
    // The rows of x, or null if they are others.
    const void *of(const ggml_tensor *x) const;

    // An int32 that is 0: the list of experts of a product without any.
    const int32_t *zero() const { return static_cast<const int32_t *>(memory_); }

private:
    void *memory_ = nullptr; // a line of zeros, then the rows
    uint64_t bytes_ = 0;     // of rows
    const ggml_tensor *of_ = nullptr;
};

} // namespace nw::engine
