// SPDX-License-Identifier: MIT
// Graphs for tests, and declarations that the oldest headers don't have.
#pragma once
#include <cstdint>
#include <utility>

#include "hip/common.h"

namespace hip_test {

struct OwnGraph {
    OwnGraph() { OK(hipGraphCreate(&handle, 0)); }
    explicit OwnGraph(hipGraph_t handle) : handle(handle) {}
    ~OwnGraph() {
        if (handle)
            static_cast<void>(hipGraphDestroy(handle));
    }
    OwnGraph(const OwnGraph &) = delete;
    operator hipGraph_t() const { return handle; }
    hipGraph_t release() { return std::exchange(handle, nullptr); }

    // A kernel node: one workgroup of 32 work-items for `iota`, of 1 for all others.
    template <class... Args>
    hipGraphNode_t kernel(hipFunction_t function, const std::vector<hipGraphNode_t> &before,
                          Args... args) {
        void *arguments[] = {&args...};
        hipKernelNodeParams params{};
        params.func = reinterpret_cast<void *>(function);
        params.gridDim = dim3(1);
        params.blockDim = dim3(sizeof...(args) == 3 ? 32 : 1);
        params.kernelParams = arguments;
        hipGraphNode_t node = nullptr;
        OK(hipGraphAddKernelNode(&node, handle, before.data(), before.size(), &params));
        return node;
    }
    hipGraph_t handle = nullptr;
};

struct OwnExec {
    explicit OwnExec(hipGraph_t graph) {
        OK(hipGraphInstantiate(&handle, graph, nullptr, nullptr, 0));
    }
    ~OwnExec() { static_cast<void>(hipGraphExecDestroy(handle)); }
    OwnExec(const OwnExec &) = delete;
    operator hipGraphExec_t() const { return handle; }
    void run() const {
        OK(hipGraphLaunch(handle, nullptr));
        OK(hipDeviceSynchronize());
    }
    hipGraphExec_t handle = nullptr;
};

// increment(word), twice, then a copy to `copy`; the nodes by name.
struct Chain {
    Chain() {
        first = graph.kernel(code["increment"], {}, word.data);
        second = graph.kernel(code["increment"], {first}, word.data);
        OK(hipGraphAddMemcpyNode1D(&last, graph, &second, 1, copy.data, word.data, 4,
                                   hipMemcpyDeviceToDevice));
    }
    Code code;
    Ints word{1, 0}, copy{1, -1};
    OwnGraph graph;
    hipGraphNode_t first, second, last = nullptr;
};

// As newer headers have them.
struct AllocationParams { // hipMemAllocNodeParams
    hipMemPoolProps pool;
    const hipMemAccessDesc *access;
    std::size_t access_count, bytes;
    void *pointer;
};
struct NodeParams { // hipGraphNodeParams
    int type, reserved[3];
    union {
        long long bytes[30];
        hipKernelNodeParams kernel;
    };
};
struct InstantiateParams { // hipGraphInstantiateParams
    hipGraphNode_t culprit;
    unsigned long long flags;
    int result;
    hipStream_t stream;
};

} // namespace hip_test

// Newer than the oldest headers that we build with: by other names, which no header declares.
#define NEWER(name, symbol, ...) extern "C" hipError_t name(__VA_ARGS__) asm(symbol)
NEWER(graph_add_mem_alloc_node, "hipGraphAddMemAllocNode", hipGraphNode_t *, hipGraph_t,
      const hipGraphNode_t *, std::size_t, hip_test::AllocationParams *);
NEWER(graph_add_mem_free_node, "hipGraphAddMemFreeNode", hipGraphNode_t *, hipGraph_t,
      const hipGraphNode_t *, std::size_t, void *);
NEWER(device_get_graph_mem_attribute, "hipDeviceGetGraphMemAttribute", int, int, void *);
NEWER(graph_add_node, "hipGraphAddNode", hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *,
      std::size_t, hip_test::NodeParams *);
NEWER(graph_exec_node_set_params, "hipGraphExecNodeSetParams", hipGraphExec_t, hipGraphNode_t,
      hip_test::NodeParams *);
NEWER(graph_instantiate_with_params, "hipGraphInstantiateWithParams", hipGraphExec_t *, hipGraph_t,
      hip_test::InstantiateParams *);
NEWER(graph_exec_get_flags, "hipGraphExecGetFlags", hipGraphExec_t, unsigned long long *);
NEWER(graph_upload, "hipGraphUpload", hipGraphExec_t, hipStream_t);
NEWER(graph_debug_dot_print, "hipGraphDebugDotPrint", hipGraph_t, const char *, unsigned);
NEWER(graph_node_get_enabled, "hipGraphNodeGetEnabled", hipGraphExec_t, hipGraphNode_t, unsigned *);
NEWER(graph_node_set_enabled, "hipGraphNodeSetEnabled", hipGraphExec_t, hipGraphNode_t, unsigned);
NEWER(user_object_create, "hipUserObjectCreate", void **, void *, hipHostFn_t, unsigned, unsigned);
NEWER(user_object_release, "hipUserObjectRelease", void *, unsigned);
NEWER(graph_retain_user_object, "hipGraphRetainUserObject", hipGraph_t, void *, unsigned, unsigned);
NEWER(graph_release_user_object, "hipGraphReleaseUserObject", hipGraph_t, void *, unsigned);
#undef NEWER
