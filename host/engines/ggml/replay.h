// SPDX-License-Identifier: MIT
// Graphs of ggml as HIP graphs: recorded when they come a second time, launched again while their
// nodes stay what they were. A recorded graph is never updated (errata of hipGraphExecUpdate):
// another memory or shape is another recording.
#pragma once
#include <cstdint>
#include <vector>

#include "engines/ggml/hip_calls.h"

struct ggml_cgraph;

namespace nw::engine {

struct Queue;

class Replay {
public:
    // Queues the graph if it is recorded. False: its nodes are to be queued.
    bool launch(Queue &, const ggml_cgraph *);
    // Around the queueing of nodes that launch() left. true: they are being recorded.
    bool begin(Queue &);
    // `queued`: all of them. Queues what was recorded. False where that fails: with `recording` the
    // nodes are to be queued again, and won't be recorded any more.
    bool end(Queue &, bool recording, bool queued);
    // Once nothing is queued.
    void release();

private:
    struct Recording {
        std::vector<uint64_t> nodes; // what they are
        uint64_t uid = 0;            // of the graph that was seen last
        uint64_t weights_written = 0;
        hipGraphExec_t graph = nullptr;
        bool never = false;
        bool seen = false; // queued node by node: all that it loads is there
    };

    Recording *find(const ggml_cgraph *);
    void forget(); // memory that recordings use was freed

    std::vector<Recording> seen_; // the last used at the end
    Recording *at_hand_ = nullptr;
    hipStream_t recorder_ = nullptr; // in the queue's place while nodes are recorded
    std::vector<uint64_t> nodes_;    // of the graph at hand
};

} // namespace nw::engine
