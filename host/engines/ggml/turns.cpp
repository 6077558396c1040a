// SPDX-License-Identifier: MIT
#include "engines/ggml/turns.h"

#include <algorithm>
#include <iterator>

#include "engines/ggml/node.h"
#include "engines/ggml/queue.h"
#include "engines/ggml/rope.h"

namespace nw::engine {

namespace {

constexpr std::size_t most = 256; // sets; a model has a few

// Whether the device sees each write of them (Device::weights_written).
bool are_watched(const Device &device, const ggml_tensor *factors) {
    return has_weights(factors) && !device.shares_memory &&
           is_memory_of(device, root_of(factors)->buffer->buft);
}

// Waits for the queue: a graph's inputs are copied on it.
bool read(Queue &queue, const ggml_tensor *factors, std::vector<float> &out) {
    return succeeded(hip().hipMemcpyAsync(out.data(), factors->data, sizeof(float) * out.size(),
                                          hipMemcpyDeviceToHost, queue.stream),
                     "hipMemcpyAsync") &&
           succeeded(hip().hipStreamSynchronize(queue.stream), "hipStreamSynchronize");
}

} // namespace

bool Turns::make(Queue &queue, const ggml_tensor *rope, const std::vector<float> &factors,
                 void **turns, std::string &why) {
    const Rotation rotation(rope);
    std::vector<uint64_t> values(rotation.pairs());
    if (make_turns(rotation, factors.empty() ? nullptr : factors.data(), values.data()) != NW_OK)
        return why = nw_last_error(), false;
    const std::size_t bytes = sizeof(uint64_t) * values.size();
    if (succeeded(hip().hipMalloc(turns, bytes), "hipMalloc") &&
        succeeded(queue.staging.queue(*turns, values.data(), bytes, queue.stream),
                  "hipMemcpyAsync"))
        return true;
    static_cast<void>(hip().hipFree(*turns));
    return why = "its turns can't be put on the device", false;
}

const void *Turns::of(Queue &queue, const ggml_tensor *rope, std::string &why) {
    const ggml_tensor *const source = rope->src[2];
    Key key(std::begin(rope->op_params), std::end(rope->op_params));
    const auto place = std::pair(key, source ? source->data : nullptr);
    const uint64_t written = queue.device.weights_written;
    if (const auto found = read_.find(place);
        found != read_.end() && found->second.weights_written == written)
        return found->second.turns;
    std::vector<float> factors(source ? Rotation(rope).pairs() : 0);
    if (source && !read(queue, source, factors))
        return why = "its frequency factors can't be read", nullptr;
    key.resize(key.size() + factors.size());
    std::memcpy(key.data() + key.size() - factors.size(), factors.data(),
                sizeof(float) * factors.size());
    auto found = made_.find(key);
    if (found == made_.end()) {
        if (made_.size() >= most) {
            if (!succeeded(hip().hipStreamSynchronize(queue.stream), "hipStreamSynchronize"))
                return nullptr;
            release();
            queue.freed = true;
        }
        void *turns = nullptr;
        if (!make(queue, rope, factors, &turns, why))
            return nullptr;
        found = made_.emplace(std::move(key), turns).first;
    }
    if (!source || are_watched(queue.device, source))
        read_[place] = {written, found->second};
    else
        queue.reads_inputs = true;
    return found->second;
}

void Turns::release() {
    for (const auto &[key, turns] : made_)
        static_cast<void>(hip().hipFree(turns));
    made_.clear();
    read_.clear();
}

} // namespace nw::engine
