// SPDX-License-Identifier: MIT
// Shared by the tests of the C API: a product with operands in device memory, and its result in
// double.
#pragma once
#include <doctest/doctest.h>
#include <nibblewave.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include "base/types.h"

#define HIP_OK(call) REQUIRE_EQ(std::string(hipGetErrorName(call)), "hipSuccess")
#define NW_DONE(call) REQUIRE_MESSAGE((call) == NW_OK, std::string(nw_last_error()))

namespace api_test {

using namespace nw;

// As they are in memory.
template <class T> std::vector<u8> bytes_of(const std::vector<T> &values) {
    std::vector<u8> out(values.size() * sizeof(T));
    std::memcpy(out.data(), values.data(), out.size());
    return out;
}

// For the current device; the tests' devices are gfx1151, gfx1201, gfx1151, gfx1100,
// gfx1030.
struct Context {
    explicit Context(const char *directory = nullptr);
    ~Context() { nw_context_destroy(handle); }
    Context(const Context &) = delete;
    operator nw_context *() const { return handle; }
    nw_context *handle = nullptr;
};

struct Stream {
    Stream() { HIP_OK(hipStreamCreate(&handle)); }
    ~Stream() { static_cast<void>(hipStreamDestroy(handle)); }
    Stream(const Stream &) = delete;
    operator hipStream_t() const { return handle; }
    hipStream_t handle = nullptr;
};

// A graph from the stream's capture, which ends here.
struct Graph {
    explicit Graph(hipStream_t stream) { HIP_OK(hipStreamEndCapture(stream, &graph)); }
    ~Graph() {
        if (exec)
            CHECK_EQ(hipGraphExecDestroy(exec), hipSuccess);
        CHECK_EQ(hipGraphDestroy(graph), hipSuccess);
    }
    Graph(const Graph &) = delete;
    void launch(hipStream_t stream) {
        if (!exec)
            HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
        HIP_OK(hipGraphLaunch(exec, stream));
    }
    std::size_t nodes() const {
        std::size_t count = 0;
        HIP_OK(hipGraphGetNodes(graph, nullptr, &count));
        return count;
    }
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
};

// Whether the library's last error has this part.
inline bool said(std::string_view part) {
    return std::string_view(nw_last_error()).find(part) != std::string_view::npos;
}

struct Memory {
    explicit Memory(u64 bytes);
    explicit Memory(const std::vector<u8> &contents);
    ~Memory() { static_cast<void>(hipFree(data)); }
    Memory(const Memory &) = delete;
    void *data = nullptr;
    const u64 size;
};

struct Shape {
    int dtype = NW_F16, zeros = NW_ZEROS_EIGHT;
    u32 m = 1, n = 40, k = 256, group = 128;
    bool bias = true;
    u32 padding = 0; // bytes between rows, each row's size rounded up first
    bool silu = false;
    bool prefill() const { return m > 64 || zeros == NW_ZEROS_CARRIER; }
    bool mid() const { return !prefill() && (m > 8 || silu); }
    u32 columns() const { return silu ? n / 2 : n; }
};

class Product {
public:
    explicit Product(const Shape &, u64 seed = 1);
    const nw_w4a16 &arguments() const { return arguments_; }
    void clear();           // c becomes NaN
    bool untouched() const; // since then
    std::vector<u16> result() const;
    std::string difference() const; // of c from the exact result; empty where it is right

private:
    void *upload(const std::vector<u8> &);

    std::vector<std::unique_ptr<Memory>> memory_;
    nw_w4a16 arguments_ = NW_W4A16_INIT;
    std::vector<f64> exact_, bound_; // of c, rounding to dtype apart
};

} // namespace api_test
