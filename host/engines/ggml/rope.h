// SPDX-License-Identifier: MIT
// GGML_OP_ROPE as a call of libnibblewave.
#pragma once
#include "engines/ggml/queue.h"

namespace nw::engine {

// Why the device does not compute the node; "" if it does.
std::string rope_refusal(Device &, const ggml_tensor *op);

// Queues the node. Without NW_OK, `why` has the reason.
nw_status launch_rope(Queue &, const ggml_tensor *op, std::string &why);

// Parameters of a node (ggml.h: ggml_rope_ext, ggml_rope_multi).
struct Rotation {
    explicit Rotation(const ggml_tensor *rope);

    uint32_t pairs() const;         // that are rotated
    uint32_t pairs_of_base() const; // pair j turns by base^(-j / this)
    bool has_streams() const { return mode & GGML_ROPE_TYPE_MROPE; } // four positions of a token
    bool is_vision() const { return mode == GGML_ROPE_TYPE_VISION; }
    float magnitude() const;

    int dimensions, mode, original_context;
    float base, frequency_scale, extension, attention_factor, beta_fast, beta_slow;
    int sections[GGML_MROPE_SECTIONS];
    int offset;
};

// Writes the turns of each pair. `factors`: one for each pair, or null.
nw_status make_turns(const Rotation &, const float *factors, uint64_t *turns);

} // namespace nw::engine
