// SPDX-License-Identifier: MIT
// Parameters of graph nodes, read and changed by the calls of each type.
#include <array>

#include "hip/graphs.h"

using namespace hip_test;

namespace {

struct DriverBox { // HIP_MEMCPY3D as the library of HIP 6 has it
    struct Side {
        std::size_t x, y, z, lod;
        int type; // 2: device
        const void *host, *device;
        void *array;
        std::size_t pitch, height;
    };
    Side from, to;
    std::size_t width, height, depth;
};

// Words of device memory, to device memory.
DriverBox driver_words(const int *from, const int *to, std::size_t count) {
    DriverBox box{};
    box.from.type = box.to.type = 2;
    box.from.device = from;
    box.to.device = to;
    box.width = count * sizeof(int);
    box.height = box.depth = 1;
    return box;
}

hipMemcpy3DParms words(int *from, int *to, std::size_t count) {
    hipMemcpy3DParms box{};
    const std::size_t bytes = count * sizeof(int);
    box.srcPtr = {from, bytes, bytes, 1};
    box.dstPtr = {to, bytes, bytes, 1};
    box.extent = {bytes, 1, 1};
    box.kind = hipMemcpyDeviceToDevice;
    return box;
}

hipMemsetParams word_fill(int *at, unsigned value) {
    hipMemsetParams params{};
    params.dst = at;
    params.elementSize = 4;
    params.value = value;
    params.width = params.height = 1;
    return params;
}

void count_up(void *number) { ++*static_cast<int *>(number); }

} // namespace

#define NEWER(name, symbol, ...) extern "C" hipError_t name(__VA_ARGS__) asm(symbol)
NEWER(add_driver_copy, "hipDrvGraphAddMemcpyNode", hipGraphNode_t *, hipGraph_t,
      const hipGraphNode_t *, std::size_t, const DriverBox *, hipCtx_t);
NEWER(add_driver_fill, "hipDrvGraphAddMemsetNode", hipGraphNode_t *, hipGraph_t,
      const hipGraphNode_t *, std::size_t, const hipMemsetParams *, hipCtx_t);
NEWER(add_driver_free, "hipDrvGraphAddMemFreeNode", hipGraphNode_t *, hipGraph_t,
      const hipGraphNode_t *, std::size_t, void *);
NEWER(set_driver_copy, "hipDrvGraphMemcpyNodeSetParams", hipGraphNode_t, const DriverBox *);
NEWER(get_driver_copy, "hipDrvGraphMemcpyNodeGetParams", hipGraphNode_t, DriverBox *);
NEWER(exec_driver_copy, "hipDrvGraphExecMemcpyNodeSetParams", hipGraphExec_t, hipGraphNode_t,
      const DriverBox *, hipCtx_t);
NEWER(exec_driver_fill, "hipDrvGraphExecMemsetNodeSetParams", hipGraphExec_t, hipGraphNode_t,
      const hipMemsetParams *, hipCtx_t);
NEWER(graph_node_set_params, "hipGraphNodeSetParams", hipGraphNode_t, NodeParams *);
NEWER(allocation_params, "hipGraphMemAllocNodeGetParams", hipGraphNode_t, AllocationParams *);
NEWER(free_params, "hipGraphMemFreeNodeGetParams", hipGraphNode_t, void **);
NEWER(set_graph_memory, "hipDeviceSetGraphMemAttribute", int, int, void *);
NEWER(trim_graph_memory, "hipDeviceGraphMemTrim", int);
NEWER(graph_launch_own, "hipGraphLaunch_spt", hipGraphExec_t, hipStream_t);
NEWER(user_object_retain, "hipUserObjectRetain", void *, unsigned);
#undef NEWER

TEST_CASE("copy nodes by box: the graph's and the executable graph's") {
    Ints from(4, 1), to(4, 0);
    OwnGraph graph;
    hipGraphNode_t node = nullptr;
    hipMemcpy3DParms box = words(from.data, to.data, 1);
    OK(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &box));
    OwnExec exec(graph);
    exec.run();
    CHECK(to.get() == std::vector<int>{1, 0, 0, 0});
    box = words(from.data, to.data, 2);
    OK(hipGraphMemcpyNodeSetParams(node, &box));
    exec.run(); // unaffected by the change
    CHECK(to.get() == std::vector<int>{1, 0, 0, 0});
    OwnExec(graph).run();
    CHECK(to.get() == std::vector<int>{1, 1, 0, 0});
    box = words(from.data, to.data, 3);
    OK(hipGraphExecMemcpyNodeSetParams(exec, node, &box));
    exec.run();
    CHECK(to.get() == std::vector<int>{1, 1, 1, 0});
    OK(hipGraphMemcpyNodeSetParams1D(node, to.data + 3, from.data, 4, hipMemcpyDeviceToDevice));
    OwnExec(graph).run();
    CHECK(to.get() == std::vector<int>{1, 1, 1, 1});
    box = words(from.data, to.data, 4);
    box.srcPtr.pitch = 4; // less than a row: two codes for it
    FAILS(hipGraphMemcpyNodeSetParams(node, &box), hipErrorInvalidPitchValue);
    FAILS(hipGraphExecMemcpyNodeSetParams(exec, node, &box), hipErrorInvalidValue);
    box = words(from.data, to.data, 4);
    box.srcPtr.ptr = nullptr;
    FAILS(hipGraphMemcpyNodeSetParams(node, &box), hipErrorInvalidValue);
    FAILS(hipGraphExecMemcpyNodeSetParams(exec, node, nullptr), hipErrorInvalidValue);
    FAILS(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &box), hipErrorInvalidValue);
    FAILS(hipGraphMemcpyNodeSetParams1D(node, nullptr, from.data, 4, hipMemcpyDeviceToDevice),
          hipErrorInvalidValue);
    FAILS(hipGraphMemcpyNodeSetParams1D(node, to.data, to.data, 4, hipMemcpyDeviceToDevice),
          hipErrorInvalidValue); // to where it is
    FAILS(
        hipGraphExecMemcpyNodeSetParams1D(exec, node, to.data, to.data, 4, hipMemcpyDeviceToDevice),
        hipErrorInvalidValue);
    FAILS(
        hipGraphExecMemcpyNodeSetParams1D(exec, node, to.data, from.data, 4, hipMemcpyHostToDevice),
        hipErrorInvalidValue); // another direction
}

TEST_CASE("copy and fill nodes of the driver's API") {
    Ints from(4, 1), to(4, 0);
    OwnGraph graph;
    hipGraphNode_t copy = nullptr, fill = nullptr, none = nullptr;
    hipCtx_t context = nullptr;
    OK(hipCtxGetCurrent(&context));
    DriverBox box = driver_words(from.data, to.data, 1);
    hipMemsetParams params = word_fill(to.data + 3, 7);
    OK(add_driver_copy(&copy, graph, nullptr, 0, &box, context));
    OK(add_driver_fill(&fill, graph, &copy, 1, &params, context));
    OwnExec exec(graph);
    exec.run();
    CHECK(to.get() == std::vector<int>{1, 0, 0, 7});
    box = driver_words(from.data, to.data, 2);
    params.value = 8;
    OK(set_driver_copy(copy, &box));
    OwnExec(graph).run();
    CHECK(to.get() == std::vector<int>{1, 1, 0, 7});
    box = driver_words(from.data, to.data, 3);
    OK(exec_driver_copy(exec, copy, &box, context));
    OK(exec_driver_fill(exec, fill, &params, context));
    exec.run();
    CHECK(to.get() == std::vector<int>{1, 1, 1, 8});
    DriverBox seen{};
    OK(get_driver_copy(copy, &seen));
    CHECK_EQ(seen.to.device, to.data);
    CHECK_EQ(seen.width, 8); // the graph's: as set last
    FAILS(get_driver_copy(copy, nullptr), hipErrorInvalidValue);
    FAILS(get_driver_copy(fill, &seen), hipErrorInvalidValue); // another type
    OK(hipGraphMemcpyNodeSetParams1D(copy, to.data, from.data, 4, hipMemcpyDefault));
    FAILS(get_driver_copy(copy, &seen), hipErrorInvalidValue); // none any more
    const auto nobodys = reinterpret_cast<hipCtx_t>(&box);
    FAILS(add_driver_copy(&none, graph, nullptr, 0, &box, nullptr), hipErrorInvalidValue);
    FAILS(add_driver_copy(&none, graph, nullptr, 0, &box, nobodys), hipErrorInvalidContext);
    FAILS(add_driver_fill(&none, graph, nullptr, 0, &params, nobodys), hipErrorInvalidContext);
    FAILS(exec_driver_copy(exec, copy, &box, nobodys), hipErrorInvalidContext);
    FAILS(exec_driver_fill(exec, fill, &params, nobodys), hipErrorInvalidContext);
    FAILS(exec_driver_fill(exec, copy, &params, context), hipErrorInvalidValue); // another type
    FAILS(set_driver_copy(copy, nullptr), hipErrorInvalidValue);
    std::size_t count = 0;
    OK(hipGraphGetNodes(graph, nullptr, &count));
    CHECK_EQ(count, 2); // what failed added nothing
}

TEST_CASE("host nodes and their parameters") {
    std::array<int, 3> calls{};
    OwnGraph graph;
    hipGraphNode_t node = nullptr;
    hipHostNodeParams params{count_up, &calls[0]}, seen{};
    OK(hipGraphAddHostNode(&node, graph, nullptr, 0, &params));
    OwnExec exec(graph);
    OK(hipGraphHostNodeGetParams(node, &seen));
    CHECK_EQ(seen.userData, &calls[0]);
    CHECK(bool(seen.fn == count_up));
    params.userData = &calls[1];
    OK(hipGraphHostNodeSetParams(node, &params));
    exec.run();
    OwnExec(graph).run();
    params.userData = &calls[2];
    OK(hipGraphExecHostNodeSetParams(exec, node, &params));
    exec.run();
    CHECK(calls == std::array<int, 3>{1, 1, 1});
    params.fn = nullptr;
    FAILS(hipGraphHostNodeSetParams(node, &params), hipErrorInvalidValue);
    FAILS(hipGraphExecHostNodeSetParams(exec, node, &params), hipErrorInvalidValue);
    FAILS(hipGraphHostNodeGetParams(node, nullptr), hipErrorInvalidValue);
}

TEST_CASE("event nodes take another event") {
    Code code;
    OwnEvent first, second, third;
    OwnGraph graph;
    hipGraphNode_t wait = nullptr, record = nullptr;
    hipEvent_t seen = nullptr;
    OK(hipGraphAddEventWaitNode(&wait, graph, nullptr, 0, first));
    OK(hipGraphAddEventRecordNode(&record, graph, &wait, 1, first));
    OK(hipGraphEventWaitNodeSetEvent(wait, second));
    OK(hipGraphEventWaitNodeGetEvent(wait, &seen));
    CHECK_EQ(seen, second.handle);
    OK(hipGraphEventRecordNodeSetEvent(record, third));
    OK(hipGraphEventRecordNodeGetEvent(record, &seen));
    CHECK_EQ(seen, third.handle);
    OwnExec exec(graph);
    OK(hipGraphExecEventWaitNodeSetEvent(exec, wait, third));
    OK(hipGraphExecEventRecordNodeSetEvent(exec, record, second));
    OwnStream holder(hipStreamNonBlocking), runner(hipStreamNonBlocking);
    Ints word(1, 0);
    Held held(code, holder, word.data);
    OK(hipEventRecord(third, holder));
    OK(hipGraphLaunch(exec, runner)); // waits for the third, records the second
    FAILS(hipEventQuery(second), hipErrorNotReady);
    held.release();
    OK(hipEventSynchronize(second));
    OK(hipEventQuery(first));
    hipEvent_t gone = nullptr;
    OK(hipEventCreate(&gone));
    OK(hipEventDestroy(gone));
    FAILS(hipGraphEventWaitNodeSetEvent(wait, gone), hipErrorInvalidHandle);
    FAILS(hipGraphEventRecordNodeSetEvent(record, nullptr), hipErrorInvalidValue);
    FAILS(hipGraphEventRecordNodeSetEvent(wait, first), hipErrorInvalidValue); // another type
    FAILS(hipGraphExecEventWaitNodeSetEvent(exec, wait, gone), hipErrorInvalidHandle);
}

TEST_CASE("an executable graph's child takes over another graph of its shape") {
    Code code;
    Ints word(2, 0);
    OwnGraph parent, child, other, longer;
    child.kernel(code["increment"], {}, word.data);
    other.kernel(code["increment"], {}, word.data + 1);
    longer.kernel(code["increment"], {longer.kernel(code["increment"], {}, word.data)}, word.data);
    hipGraphNode_t node = nullptr;
    OK(hipGraphAddChildGraphNode(&node, parent, nullptr, 0, child));
    OwnExec exec(parent);
    OK(hipGraphExecChildGraphNodeSetParams(exec, node, other));
    exec.run();
    CHECK(word.get() == std::vector<int>{0, 1});
    FAILS(hipGraphExecChildGraphNodeSetParams(exec, node, longer), hipErrorUnknown);
    FAILS(hipGraphExecChildGraphNodeSetParams(exec, node, nullptr), hipErrorInvalidValue);
    exec.run();
    CHECK(word.get() == std::vector<int>{0, 2}); // as it was
}

TEST_CASE("memory nodes tell what they hold; the highest amounts start again") {
    enum { used_now, used_high };
    OwnGraph graph;
    AllocationParams params{}, seen{};
    params.pool.allocType = hipMemAllocationTypePinned;
    params.pool.location = {hipMemLocationTypeDevice, 0};
    params.bytes = 1000;
    const hipMemAccessDesc readable{{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtRead};
    params.access = &readable;
    params.access_count = 1;
    hipGraphNode_t allocate = nullptr, release = nullptr;
    OK(graph_add_mem_alloc_node(&allocate, graph, nullptr, 0, &params));
    OK(add_driver_free(&release, graph, &allocate, 1, params.pointer));
    OK(allocation_params(allocate, &seen));
    CHECK_EQ(seen.bytes, 1000);
    CHECK_EQ(seen.access, &readable); // as it was given
    CHECK_EQ(seen.pointer, params.pointer);
    void *freed = nullptr;
    OK(free_params(release, &freed));
    CHECK_EQ(freed, params.pointer);
    FAILS(allocation_params(release, &seen), hipErrorInvalidValue);
    FAILS(add_driver_free(&release, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
    Ints other(1, 0); // not of a node
    FAILS(add_driver_free(&release, graph, nullptr, 0, other.data), hipErrorInvalidValue);
    OwnExec(graph).run();
    std::uint64_t amount = 0;
    OK(device_get_graph_mem_attribute(0, used_high, &amount));
    CHECK_GE(amount, 1000);
    FAILS(set_graph_memory(0, used_high, &amount), hipErrorInvalidValue); // to 0 only
    OK(set_graph_memory(0, used_high, &(amount = 0)));
    OK(device_get_graph_mem_attribute(0, used_high, &amount));
    CHECK_EQ(amount, 0);
    FAILS(set_graph_memory(0, used_now, &amount), hipErrorInvalidValue);
    OK(trim_graph_memory(0));
    FAILS(trim_graph_memory(7), hipErrorInvalidDevice);
}

TEST_CASE("nodes change by the general call, within their type") {
    Code code;
    Ints out(4, 0);
    OwnGraph graph;
    const hipGraphNode_t node = graph.kernel(code["iota"], {}, out.data, 5, 2);
    NodeParams params{};
    OK(hipGraphKernelNodeGetParams(node, &params.kernel));
    int first = 7, n = 4;
    void *arguments[] = {&out.data, &first, &n};
    params.kernel.kernelParams = arguments;
    OK(graph_node_set_params(node, &params));
    OwnExec(graph).run();
    CHECK(out.get() == std::vector<int>{7, 8, 9, 10});
    params.type = 5; // empty
    FAILS(graph_node_set_params(node, &params), hipErrorInvalidValue);
    FAILS(graph_node_set_params(node, nullptr), hipErrorInvalidValue);
}

TEST_CASE("a graph in the thread's own stream") {
    Code code;
    Ints word(1, 0), held_word(1, 0);
    OwnGraph graph;
    graph.kernel(code["increment"], {}, word.data);
    OwnExec exec(graph);
    OwnStream holder(hipStreamNonBlocking);
    Held held(code, holder, held_word.data);
    OK(graph_launch_own(exec, nullptr));
    OK(hipStreamSynchronize(hipStreamPerThread));
    int seen = 0;
    OK(hipMemcpyAsync(&seen, word.data, 4, hipMemcpyDeviceToHost, hipStreamPerThread));
    OK(hipStreamSynchronize(hipStreamPerThread));
    CHECK_EQ(seen, 1);
    FAILS(graph_launch_own(nullptr, nullptr), hipErrorInvalidValue);
}

TEST_CASE("user objects count the caller's references") {
    int destroyed = 0;
    void *object = nullptr;
    OK(user_object_create(&object, &destroyed, count_up, 1, 1));
    OK(user_object_retain(object, 2));
    OK(user_object_release(object, 2));
    CHECK_EQ(destroyed, 0);
    FAILS(user_object_retain(object, 0), hipErrorInvalidValue);
    OK(user_object_release(object, 2)); // more than are left: all
    CHECK_EQ(destroyed, 1);
    OK(user_object_release(object, 1)); // gone: ignored, as on real ROCm
    OK(user_object_retain(object, 1));
    FAILS(user_object_release(nullptr, 1), hipErrorInvalidValue);
}
