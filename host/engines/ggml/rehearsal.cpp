// SPDX-License-Identifier: MIT
#include "engines/ggml/rehearsal.h"

#include <ggml-impl.h>

#include <algorithm>

#include "engines/ggml/hip_calls.h"

namespace nw::engine {

namespace {

constexpr std::size_t most_answers = 1 << 14; // shapes come and go with a program's batches

// Roots in the order of a node's tensors: the node, then its sources.
uint64_t number_of_root(const ggml_tensor *node, const ggml_tensor *tensor) {
    const ggml_tensor *const root = root_of(tensor);
    if (root == root_of(node))
        return 0;
    for (uint64_t i = 0; i < GGML_MAX_SRC; i++)
        if (node->src[i] && root == root_of(node->src[i]))
            return i + 1;
    return GGML_MAX_SRC + 1;
}

template <class T> void add(std::string &key, const T &value) {
    key.append(reinterpret_cast<const char *>(&value), sizeof value);
}

void add_tensor(std::string &key, const ggml_tensor *node, const ggml_tensor *tensor) {
    add(key, tensor->type);
    add(key, tensor->ne);
    add(key, tensor->nb);
    add(key, imagined(node, tensor));
}

std::string key_of(const ggml_tensor *node) {
    std::string key;
    key.reserve(640);
    add(key, node->op);
    add(key, node->op_params);
    add_tensor(key, node, node);
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        add(key, node->src[i] != nullptr);
        if (node->src[i])
            add_tensor(key, node, node->src[i]);
    }
    return key;
}

// A stream that no null stream waits for.
bool open(Device &device) {
    return device.rehearsal ||
           succeeded(hip().hipStreamCreateWithFlags(&device.rehearsal, hipStreamNonBlocking),
                     "hipStreamCreateWithFlags");
}

} // namespace

char *imagined(const ggml_tensor *node, const ggml_tensor *tensor) {
    constexpr unsigned apart = 44; // bits; larger than any tensor
    const uint64_t address =
        ((number_of_root(node, tensor) + 1) << apart) + (tensor->view_src ? tensor->view_offs : 0);
    return reinterpret_cast<char *>(address);
}

std::string rehearse(Device &device, const std::function<nw_status()> &load,
                     const std::function<nw_status(void *stream)> &launch) {
    if (!enter(device) || !open(device))
        return "HIP fails";
    if (load() != NW_OK)
        return nw_last_error();
    // The only mode that restricts no other thread.
    if (!succeeded(hip().hipStreamBeginCapture(device.rehearsal, hipStreamCaptureModeRelaxed),
                   "hipStreamBeginCapture"))
        return "HIP fails";
    // Operands whose kernel load() left out were checked before that: the launch will load it.
    const nw_status status = launch(device.rehearsal);
    const std::string why = status == NW_OK || status == NW_NOT_PREPARED ? "" : nw_last_error();
    hipGraph_t graph = nullptr;
    if (!succeeded(hip().hipStreamEndCapture(device.rehearsal, &graph), "hipStreamEndCapture"))
        return "HIP fails";
    if (graph)
        succeeded(hip().hipGraphDestroy(graph), "hipGraphDestroy");
    return why;
}

std::string remembered(Device &device, const ggml_tensor *node, const void *map,
                       const std::function<std::string()> &answer) {
    const std::lock_guard lock(device.rehearsing);
    std::string key = key_of(node);
    add(key, map);
    const auto found = device.answers.find(key);
    if (found != device.answers.end())
        return found->second;
    if (device.answers.size() >= most_answers)
        device.answers.clear();
    return device.answers.emplace(std::move(key), answer()).first->second;
}

void say_refused(Device &device, const ggml_tensor *node, const std::string &why) {
    const std::string what = std::string(ggml_op_desc(node)) + ": " + why;
    const std::lock_guard lock(device.mutex);
    if (device.said.insert(what).second)
        GGML_LOG_INFO("nibblewave: not on %s: %s\n", device.name.c_str(), what.c_str());
}

} // namespace nw::engine
