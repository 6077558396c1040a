// SPDX-License-Identifier: MIT
// ggml's events of a device: the scheduler keeps several copies of a graph's inputs by them.
#pragma once
#include "engines/ggml/queue.h"

namespace nw::engine {

ggml_backend_event_t make_event(ggml_backend_dev_t); // null if HIP fails
void free_event(ggml_backend_dev_t, ggml_backend_event_t);
void await_event(ggml_backend_dev_t, ggml_backend_event_t); // on the host

void record_event(Queue &, ggml_backend_event_t);
void queue_wait(Queue &, ggml_backend_event_t);

// Queues a copy from one queue's device to another's, which waits for it. False if HIP can't.
bool queue_copy(Queue &from, Queue &to, const ggml_tensor *source, ggml_tensor *target);

} // namespace nw::engine
