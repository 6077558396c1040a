// SPDX-License-Identifier: MIT
// Turns of a GGML_OP_ROPE's pairs on the device: nw_rope_turns makes them once for each set of
// parameters and frequency factors.
#pragma once
#include <ggml.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nw::engine {

struct Queue;

class Turns {
public:
    // The turns of the node's pairs, for launches of this queue; null with the reason. Factors are
    // read when it is called: queued launches must not write them (rope.cpp refuses such nodes).
    const void *of(Queue &, const ggml_tensor *rope, std::string &why);

    // Once nothing is queued.
    void release();

private:
    using Key = std::vector<int32_t>; // parameters, then the bits of factors

    // Factors in a buffer of weights, and how often weights had been written by then.
    struct Read {
        uint64_t weights_written;
        const void *turns;
    };

    bool make(Queue &, const ggml_tensor *rope, const std::vector<float> &factors, void **turns,
              std::string &why);

    std::map<Key, void *> made_;
    std::map<std::pair<Key, const void *>, Read> read_; // by parameters and the factors' address
};

} // namespace nw::engine
