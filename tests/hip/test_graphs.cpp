// SPDX-License-Identifier: MIT
// Graphs made by hand: work and order of their nodes, queries and changes.
#include <algorithm>

#include "hip/graphs.h"

using namespace hip_test;

namespace {

std::vector<int> order; // of host nodes

void note(void *number) { order.push_back(*static_cast<int *>(number)); }

} // namespace

TEST_CASE("a graph runs as often as it is launched") {
    Chain chain;
    OwnExec exec(chain.graph);
    for (int launches = 1; launches <= 3; ++launches) {
        exec.run();
        CHECK_EQ(chain.word.get()[0], 2 * launches);
        CHECK_EQ(chain.copy.get()[0], 2 * launches);
    }
}

TEST_CASE("launches of a graph are in order with their stream") {
    Chain chain;
    OwnExec exec(chain.graph);
    OwnStream stream;
    Held held(chain.code, stream, chain.word.data);
    OK(hipGraphLaunch(exec, stream));
    OK(launch(chain.code["increment"], 1, stream, chain.word.data));
    FAILS(hipStreamQuery(stream), hipErrorNotReady);
    held.release();
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(chain.word.get()[0], 4);
    CHECK_EQ(chain.copy.get()[0], 3);
}

TEST_CASE("host nodes run in the order of the edges") {
    int numbers[] = {0, 1, 2, 3};
    OwnGraph graph;
    hipGraphNode_t nodes[4];
    for (int i = 0; i < 4; ++i) {
        const hipHostNodeParams params{note, &numbers[i]};
        OK(hipGraphAddHostNode(&nodes[i], graph, nullptr, 0, &params));
    }
    const hipGraphNode_t from[] = {nodes[3], nodes[3], nodes[1], nodes[2]};
    const hipGraphNode_t to[] = {nodes[1], nodes[2], nodes[0], nodes[0]};
    OK(hipGraphAddDependencies(graph, from, to, 4)); // 3, then 1 and 2, then 0
    order.clear();
    OwnExec(graph).run();
    REQUIRE_EQ(order.size(), 4);
    CHECK_EQ(order.front(), 3);
    CHECK_EQ(order.back(), 0);

    SUBCASE("a cycle is refused") {
        OK(hipGraphAddDependencies(graph, &nodes[0], &nodes[3], 1));
        hipGraphExec_t exec = nullptr;
        FAILS(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipErrorInvalidValue);
    }
    SUBCASE("an edge is there once, and can be taken away") {
        FAILS(hipGraphAddDependencies(graph, from, to, 1), hipErrorInvalidValue);
        FAILS(hipGraphAddDependencies(graph, &nodes[1], &nodes[1], 1), hipErrorInvalidValue);
        OK(hipGraphRemoveDependencies(graph, from, to, 4));
        FAILS(hipGraphRemoveDependencies(graph, from, to, 1), hipErrorInvalidValue);
        std::size_t count = 9;
        OK(hipGraphGetEdges(graph, nullptr, nullptr, &count));
        CHECK_EQ(count, 0);
    }
}

TEST_CASE("asking a graph what is in it") {
    Chain chain;
    hipGraphNode_t nodes[5] = {};
    std::size_t count = 0;
    OK(hipGraphGetNodes(chain.graph, nullptr, &count));
    CHECK_EQ(count, 3);
    count = 5;
    OK(hipGraphGetNodes(chain.graph, nodes, &count));
    CHECK_EQ(count, 3);
    CHECK(std::ranges::equal(nodes, std::vector<hipGraphNode_t>{chain.first, chain.second,
                                                                chain.last, nullptr, nullptr}));
    OK(hipGraphGetRootNodes(chain.graph, nodes, &(count = 5)));
    CHECK_EQ(count, 1);
    CHECK_EQ(nodes[0], chain.first);
    hipGraphNode_t from[2], to[2];
    OK(hipGraphGetEdges(chain.graph, from, to, &(count = 2)));
    CHECK_EQ(count, 2);
    CHECK_EQ(from[1], chain.second);
    CHECK_EQ(to[1], chain.last);
    OK(hipGraphNodeGetDependencies(chain.last, nodes, &(count = 1)));
    CHECK_EQ(nodes[0], chain.second);
    OK(hipGraphNodeGetDependentNodes(chain.first, nodes, &(count = 1)));
    CHECK_EQ(nodes[0], chain.second);
    hipGraphNodeType type{};
    OK(hipGraphNodeGetType(chain.first, &type));
    CHECK_EQ(int{type}, 0); // hipGraphNodeTypeKernel since HIP 5.3
    OK(hipGraphNodeGetType(chain.last, &type));
    CHECK_EQ(int{type}, 1); // hipGraphNodeTypeMemcpy
}

TEST_CASE("handles that are stale, foreign or null are refused") {
    Chain chain;
    OwnGraph other;
    hipGraphNode_t node = nullptr;
    FAILS(hipGraphAddEmptyNode(&node, other, &chain.first, 1), hipErrorInvalidValue);
    const hipGraphNode_t twice[] = {chain.first, chain.first};
    FAILS(hipGraphAddEmptyNode(&node, chain.graph, twice, 2), hipErrorInvalidValue);
    FAILS(hipGraphAddEmptyNode(&node, chain.graph, nullptr, 1), hipErrorInvalidValue);
    FAILS(hipGraphAddEmptyNode(nullptr, chain.graph, nullptr, 0), hipErrorInvalidValue);
    FAILS(hipGraphAddEmptyNode(&node, nullptr, nullptr, 0), hipErrorInvalidValue);
    OK(hipGraphDestroyNode(chain.second));
    FAILS(hipGraphDestroyNode(chain.second), hipErrorInvalidValue);
    std::size_t count = 0;
    OK(hipGraphNodeGetDependencies(chain.last, nullptr, &count));
    CHECK_EQ(count, 0);
    const hipGraph_t graph = chain.graph.release();
    OK(hipGraphDestroy(graph));
    FAILS(hipGraphDestroy(graph), hipErrorIllegalState);
    FAILS(hipGraphDestroy(nullptr), hipErrorInvalidValue);
    FAILS(hipGraphNodeGetDependencies(chain.last, nullptr, &count), hipErrorInvalidValue);
    FAILS(hipGraphLaunch(nullptr, nullptr), hipErrorInvalidValue);
    FAILS(hipGraphExecDestroy(nullptr), hipErrorInvalidValue);
}

TEST_CASE("memset and memcpy nodes and their parameters") {
    Ints data(8, 0), copy(8, -1);
    OwnGraph graph;
    hipGraphNode_t fill = nullptr, move = nullptr;
    hipMemsetParams params{};
    params.dst = data.data;
    params.elementSize = 4;
    params.value = 5;
    params.width = 2;
    params.height = 2;
    params.pitch = 16;
    OK(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &params));
    OK(hipGraphAddMemcpyNode1D(&move, graph, &fill, 1, copy.data, data.data, 32,
                               hipMemcpyDeviceToDevice));
    OwnExec exec(graph);
    exec.run();
    CHECK(copy.get() == std::vector<int>{5, 5, 0, 0, 5, 5, 0, 0});
    hipMemsetParams seen{};
    OK(hipGraphMemsetNodeGetParams(fill, &seen));
    CHECK_EQ(seen.value, 5);
    CHECK_EQ(seen.pitch, 16);
    CHECK_EQ(seen.height, 2);
    params.value = 6;
    OK(hipGraphExecMemsetNodeSetParams(exec, fill, &params));
    OK(hipGraphExecMemcpyNodeSetParams1D(exec, move, copy.data, data.data, 4,
                                         hipMemcpyDeviceToDevice));
    exec.run();
    CHECK(copy.get() == std::vector<int>{6, 5, 0, 0, 5, 5, 0, 0});
    FAILS(hipGraphExecMemcpyNodeSetParams1D(exec, move, copy.data, data.data, 4,
                                            hipMemcpyDeviceToHost),
          hipErrorInvalidValue); // another direction
    params.width = 1;
    FAILS(hipGraphExecMemsetNodeSetParams(exec, fill, &params), hipErrorInvalidValue); // of rows
    params.elementSize = 3;
    FAILS(hipGraphMemsetNodeSetParams(fill, &params), hipErrorInvalidValue);
    params.elementSize = 4;
    FAILS(hipGraphMemsetNodeSetParams(move, &params), hipErrorInvalidValue); // another type
    hipMemcpy3DParms box{};
    OK(hipGraphMemcpyNodeGetParams(move, &box));
    CHECK_EQ(box.extent.width, 32);
    CHECK_EQ(box.kind, hipMemcpyDeviceToDevice);
}

TEST_CASE("event nodes: streams see a graph's events, and it sees theirs") {
    Code code;
    Ints word(1, 0);
    OwnEvent before, after;
    OwnGraph graph;
    hipGraphNode_t wait = nullptr, record = nullptr;
    OK(hipGraphAddEventWaitNode(&wait, graph, nullptr, 0, before));
    const hipGraphNode_t kernel = graph.kernel(code["increment"], {wait}, word.data);
    OK(hipGraphAddEventRecordNode(&record, graph, &kernel, 1, after));
    hipEvent_t event = nullptr;
    OK(hipGraphEventRecordNodeGetEvent(record, &event));
    CHECK_EQ(event, after.handle);
    OwnExec exec(graph);
    OwnStream holder(hipStreamNonBlocking), runner(hipStreamNonBlocking);
    Ints held_word(1, 0);
    Held held(code, holder, held_word.data);
    OK(hipEventRecord(before, holder));
    OK(hipGraphLaunch(exec, runner));
    FAILS(hipEventQuery(after), hipErrorNotReady);
    held.release();
    OK(hipEventSynchronize(after));
    CHECK_EQ(word.get()[0], 1);
}

TEST_CASE("child graphs are copied when they are added") {
    Chain chain;
    OwnGraph parent;
    hipGraphNode_t node = nullptr;
    OK(hipGraphAddChildGraphNode(&node, parent, nullptr, 0, chain.graph));
    OK(hipGraphDestroyNode(chain.second)); // too late
    parent.kernel(chain.code["increment"], {node}, chain.word.data);
    OwnExec(parent).run();
    CHECK_EQ(chain.copy.get()[0], 2);
    CHECK_EQ(chain.word.get()[0], 3);
    hipGraph_t child = nullptr;
    OK(hipGraphChildGraphNodeGetGraph(node, &child));
    std::size_t count = 0;
    OK(hipGraphGetNodes(child, nullptr, &count));
    CHECK_EQ(count, 3);
    OK(hipGraphAddChildGraphNode(&node, parent, nullptr, 0, parent)); // its two nodes of now
    OK(hipGraphChildGraphNodeGetGraph(node, &child));
    OK(hipGraphGetNodes(child, nullptr, &count));
    CHECK_EQ(count, 2);
}

TEST_CASE("clones, and where a node is in them") {
    Chain chain;
    hipGraph_t clone = nullptr;
    OK(hipGraphClone(&clone, chain.graph));
    hipGraphNode_t twin = nullptr;
    OK(hipGraphNodeFindInClone(&twin, chain.second, clone));
    CHECK(twin != chain.second);
    hipGraphNodeType type{};
    OK(hipGraphNodeGetType(twin, &type));
    FAILS(hipGraphNodeFindInClone(&twin, twin, chain.graph), hipErrorInvalidValue);
    OwnExec(clone).run();
    CHECK_EQ(chain.word.get()[0], 2);
    OK(hipGraphDestroy(clone));
}

TEST_CASE("memory nodes: the address is known early, the memory lives from node to node") {
    Code code;
    OwnGraph graph;
    AllocationParams params{};
    params.pool.allocType = hipMemAllocationTypePinned;
    params.pool.location = {hipMemLocationTypeDevice, 0};
    params.bytes = 64;
    hipGraphNode_t allocate = nullptr, release = nullptr;
    OK(graph_add_mem_alloc_node(&allocate, graph, nullptr, 0, &params));
    int *const memory = static_cast<int *>(params.pointer);
    REQUIRE(memory);
    Ints out(4, -1), kept(4, -1);
    const auto fill = graph.kernel(code["iota"], {allocate}, memory, 70, 4);
    hipGraphNode_t copy = nullptr;
    std::uint64_t used = 9, reserved = 0;
    SUBCASE("freed in the graph") {
        const auto read = graph.kernel(code["read_at"], {fill}, out.data, memory);
        OK(graph_add_mem_free_node(&release, graph, &read, 1, memory));
        OwnExec exec(graph);
        exec.run();
        exec.run();
        CHECK_EQ(out.get()[0], 70);
        OK(device_get_graph_mem_attribute(0, 0, &used));
        CHECK_EQ(used, 0);
        OK(device_get_graph_mem_attribute(0, 2,
                                          &reserved)); // as AMD's tests have it: only while used
        CHECK_EQ(reserved, 0);
        OK(device_get_graph_mem_attribute(0, 3, &reserved));
        CHECK_GE(reserved, 64);
        FAILS(hipMemsetD32(memory, 0, 1), hipErrorInvalidValue); // not there between runs
        hipGraphExec_t second = nullptr;
        FAILS(hipGraphInstantiate(&second, graph, nullptr, nullptr, 0), hipErrorNotSupported);
    }
    SUBCASE("freed by the host") {
        OwnExec exec(graph);
        exec.run();
        OK(hipMemcpy(kept.data, memory, 16, hipMemcpyDeviceToDevice));
        CHECK(kept.get() == std::vector<int>{70, 71, 72, 73});
        CapturedStderr said;
        OK(hipGraphLaunch(exec, nullptr)); // it lives still
        FAILS(hipDeviceSynchronize(), hipErrorInvalidValue);
        OK(hipFree(memory));
        exec.run();
        OK(hipFree(memory));
    }
    SUBCASE("freed by the next launch") {
        hipGraphExec_t exec = nullptr;
        OK(hipGraphInstantiateWithFlags(&exec, graph, 1)); // AutoFreeOnLaunch
        OK(hipGraphLaunch(exec, nullptr));
        OK(hipGraphLaunch(exec, nullptr));
        OK(hipDeviceSynchronize());
        OK(hipGraphExecDestroy(exec));
        OK(hipGraphDestroy(graph.release()));
        OK(hipMemcpy(kept.data, memory, 16, hipMemcpyDeviceToDevice)); // outlives both
        OK(hipFree(memory));
    }
    static_cast<void>(copy);
}

TEST_CASE("nodes by the general call") {
    Code code;
    Ints out(2, -1);
    OwnGraph graph;
    int first = 7, n = 2;
    void *arguments[] = {&out.data, &first, &n};
    NodeParams params{};
    params.type = 0; // kernel
    params.kernel.func = reinterpret_cast<void *>(code["iota"]);
    params.kernel.gridDim = dim3(1);
    params.kernel.blockDim = dim3(32);
    params.kernel.kernelParams = arguments;
    hipGraphNode_t node = nullptr, host = nullptr;
    OK(graph_add_node(&node, graph, nullptr, 0, &params));
    OwnExec exec(graph);
    first = 9;
    OK(graph_exec_node_set_params(exec, node, &params));
    exec.run();
    CHECK(out.get() == std::vector<int>{9, 10});
    params = {};
    params.type = 3; // host, without a function
    FAILS(graph_add_node(&host, graph, nullptr, 0, &params), hipErrorInvalidValue);
    CapturedStderr said;
    params.type = 8; // external semaphore
    FAILS(graph_add_node(&host, graph, nullptr, 0, &params), hipErrorNotSupported);
    CHECK(said.text().find("type 8") != std::string::npos);
    params.type = 32; // none
    FAILS(graph_add_node(&host, graph, nullptr, 0, &params), hipErrorInvalidValue);
}

static int destroyed;

TEST_CASE("user objects live as long as the last graph that holds them") {
    destroyed = 0;
    int thing = 0;
    void *object = nullptr;
    OK(user_object_create(
        &object, &thing, [](void *) { ++destroyed; }, 1, 1));
    Chain chain;
    OK(graph_retain_user_object(chain.graph, object, 1, 1)); // moves the caller's reference
    OK(user_object_release(object, 1));                      // gone: ignored, as on real ROCm
    {
        OwnExec exec(chain.graph);
        OK(graph_release_user_object(chain.graph, object, 1));
        CHECK_EQ(destroyed, 0); // the executable copy holds one, too
        exec.run();
    }
    CHECK_EQ(destroyed, 1);
    FAILS(user_object_create(&object, &thing, nullptr, 1, 1), hipErrorInvalidValue);
    FAILS(user_object_create(
              &object, &thing, [](void *) {}, 1, 0),
          hipErrorInvalidValue);
}
