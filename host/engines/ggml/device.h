// SPDX-License-Identifier: MIT
// A HIP device as ggml sees it. It leaves nodes that it does not compute to the CPU. Its buffers
// are device memory, or host memory that the device maps.
#pragma once
#include <ggml-backend-impl.h>

#include <atomic>
#include <cstdarg>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nibblewave_ggml.h>

#include "engines/ggml/hip_calls.h"
#include "hip/staging.h"

namespace nw::engine {

struct DestroyContext {
    void operator()(nw_context *context) const { nw_context_destroy(context); }
};

struct Device {
    int ordinal = 0;
    std::string name;        // "NW0"
    std::string description; // "gfx1151, AMD Radeon 8060S"
    std::string pci;         // "0000:c1:00.0", or empty
    std::unique_ptr<nw_context, DestroyContext> context;
    bool shares_memory = false; // buffers are host memory
    bool maps_files = false;    // and may be a file's pages
    // llama.cpp places its KV cache in buffers of a GPU, never of an accelerator.
    enum ggml_backend_dev_type type = GGML_BACKEND_DEVICE_TYPE_ACCEL;

    ggml_backend_device face{};        // what ggml holds
    ggml_backend_buffer_type memory{}; // its buffers
    std::string host_memory_name;      // "NW0_Host"
    ggml_backend_buffer_type pinned{}; // host memory for copies

    // Why there are no kernels for (is mul_mat_id, type); "" if they are loaded. See product.cpp.
    std::mutex mutex;
    std::map<std::pair<bool, int>, std::string> kernels;
    std::map<uint32_t, std::string> attention; // the same for heads of attention
    std::set<std::string> said;                // reasons that were logged
    int replays = -1; // whether HIP graphs pass a self-test (replay.cpp); -1: not tested

    // Answers of libnibblewave about nodes. See rehearsal.h.
    std::mutex rehearsing;
    hipStream_t rehearsal = nullptr;
    std::unordered_map<std::string, std::string> answers;

    // Grows with each change of a buffer of weights: what was read of one may be old then.
    std::atomic<uint64_t> weights_written{0};

    std::mutex copying;
    hip::Staging<HipCalls> staging{hip()};

    // A copy failed, and its caller has no way to learn it: the next graph fails.
    bool broken = false;
};

Device &device_of(ggml_backend_dev_t);
Device &device_of(ggml_backend_buffer_type_t);

ggml_backend_device make_face(ggml_backend_reg_t, Device &);
// Alignment of buffers: a cache line of the GPU; nibblewave.h requires 16.
inline constexpr std::size_t memory_alignment = 128;
ggml_backend_buffer_type make_memory(Device &);        // buffer.cpp
ggml_backend_buffer_type make_host_memory(Device &);   // host_buffer.cpp
ggml_backend_buffer_type make_pinned_memory(Device &); // pinned.cpp
// A buffer of the caller's pages; null on failure.
ggml_backend_buffer_t map_host_memory(Device &, void *data, std::size_t bytes);
// Whether HIP maps a file's pages at the host's addresses, and kernels read what is in them.
bool can_map_files(Device &);
// Maps pages for the device; false where the device would see them at other addresses.
bool map_pages(void *data, std::size_t bytes, int *error);
// L2 keeps such memory: kernels end before the host reads.
inline constexpr unsigned host_memory_flags = hipHostMallocMapped | hipHostMallocNonCoherent;
// Fault found in memory of that kind; "" if none. host_memory_test.cpp
std::string host_memory_fault(Device &);
std::string file_pages_fault(Device &);
struct HostMemory {
    std::size_t available = 0, total = 0;
};
HostMemory host_memory();
bool is_memory_of(const Device &, ggml_backend_buffer_type_t);
// Whether the tensor is in the device's memory, or nowhere yet: a model's weight is offered with an
// empty buffer of ours before it is placed. One that lies elsewhere, as a KV cache of the CPU does,
// would be copied here for every graph.
bool may_be_ours(const Device &, const ggml_tensor *);
// To be called when a buffer is written or freed.
void count_write(Device &, ggml_backend_buffer_t);
ggml_backend_t make_backend(Device &); // a stream and its workspace; null on failure

// Copies to memory of the device; the bytes are there when it returns. Logs a failure.
bool upload(Device &, void *to, const void *from, std::size_t bytes);
// Sets the thread's HIP device. False, and logs, in a child of fork() and if HIP fails.
bool enter(Device &);
// Logs a HIP call that failed; true if it did not.
bool succeeded(int hip_error, const char *call);
void say_does_not_fit(const Device &, std::size_t bytes, std::size_t available, std::size_t total);
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

} // namespace nw::engine
