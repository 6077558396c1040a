// SPDX-License-Identifier: MIT
// Executable graphs: instantiation, lifetime of their resources, and updates.
#include <filesystem>
#include <fstream>

#include "hip/graphs.h"

using namespace hip_test;

TEST_CASE("what a graph was instantiated from may change or go") {
    Chain chain;
    OwnExec exec(chain.graph);
    OK(hipGraphDestroyNode(chain.second));
    OK(hipGraphDestroy(chain.graph.release()));
    exec.run();
    CHECK_EQ(chain.copy.get()[0], 2);
}

TEST_CASE("a kernel node's parameters, in the graph and in what was instantiated") {
    Code code;
    Ints out(4, -1);
    OwnGraph graph;
    const hipGraphNode_t node = graph.kernel(code["iota"], {}, out.data, 10, 2);
    OwnExec exec(graph);
    hipKernelNodeParams params{};
    OK(hipGraphKernelNodeGetParams(node, &params));
    CHECK_EQ(params.func, reinterpret_cast<void *>(code["iota"]));
    CHECK_EQ(*static_cast<int **>(params.kernelParams[0]), out.data);
    CHECK_EQ(*static_cast<int *>(params.kernelParams[1]), 10);

    int first = 20, n = 4;
    void *arguments[] = {&out.data, &first, &n};
    params.kernelParams = arguments;
    SUBCASE("the graph's node changes, the executable graph does not") {
        OK(hipGraphKernelNodeSetParams(node, &params));
        exec.run();
        CHECK(out.get() == std::vector<int>{10, 11, -1, -1});
        OwnExec(graph).run();
    }
    SUBCASE("only the executable graph changes") {
        OK(hipGraphExecKernelNodeSetParams(exec, node, &params));
        first = n = -7; // were copied
        exec.run();
    }
    CHECK(out.get() == std::vector<int>{20, 21, 22, 23});
    params.func = nullptr;
    FAILS(hipGraphKernelNodeSetParams(node, &params), hipErrorInvalidValue);
    params.func = &out;
    FAILS(hipGraphExecKernelNodeSetParams(exec, node, &params), hipErrorInvalidDeviceFunction);
    OwnGraph other;
    const hipGraphNode_t foreign = other.kernel(code["iota"], {}, out.data, 10, 2);
    OK(hipGraphKernelNodeGetParams(foreign, &params));
    FAILS(hipGraphExecKernelNodeSetParams(exec, foreign, &params), hipErrorInvalidValue);
}

TEST_CASE("an executable graph takes over another graph of its shape") {
    Chain chain, other;
    OwnExec exec(chain.graph);
    hipGraphNode_t culprit = nullptr;
    hipGraphExecUpdateResult result{};
    OK(hipGraphExecUpdate(exec, other.graph, &culprit, &result));
    CHECK_EQ(result, hipGraphExecUpdateSuccess);
    exec.run();
    CHECK_EQ(chain.word.get()[0], 0);
    CHECK_EQ(other.word.get()[0], 2);
    SUBCASE("one node more") {
        other.graph.kernel(other.code["increment"], {}, other.word.data);
        FAILS(hipGraphExecUpdate(exec, other.graph, &culprit, &result),
              hipErrorGraphExecUpdateFailure);
        CHECK_EQ(result, hipGraphExecUpdateErrorTopologyChanged);
    }
    SUBCASE("other edges") {
        OK(hipGraphRemoveDependencies(other.graph, &other.first, &other.second, 1));
        OK(hipGraphAddDependencies(other.graph, &other.first, &other.last, 1));
        FAILS(hipGraphExecUpdate(exec, other.graph, &culprit, &result),
              hipErrorGraphExecUpdateFailure);
        CHECK_EQ(result, hipGraphExecUpdateErrorTopologyChanged);
    }
    SUBCASE("a node of another type") {
        OwnGraph graph;
        const auto first = graph.kernel(other.code["increment"], {}, other.word.data);
        const auto second = graph.kernel(other.code["increment"], {first}, other.word.data);
        const auto third = graph.kernel(other.code["increment"], {second}, other.word.data);
        FAILS(hipGraphExecUpdate(exec, graph, &culprit, &result), hipErrorGraphExecUpdateFailure);
        CHECK_EQ(result, hipGraphExecUpdateErrorNodeTypeChanged);
        CHECK_EQ(culprit, third);
    }
    exec.run(); // as it was
    CHECK_EQ(other.word.get()[0], 4);
}

TEST_CASE("a fault in a graph is the stream's, and the rest of that run is left out") {
    Code code;
    Ints word(1, 0), out(1, 0);
    OwnGraph graph;
    int *null = nullptr;
    const auto bad = graph.kernel(code["read_at"], {}, out.data, null);
    graph.kernel(code["increment"], {bad}, word.data);
    OwnExec exec(graph);
    OwnStream stream;
    CapturedStderr said;
    OK(hipGraphLaunch(exec, stream));
    FAILS(hipStreamSynchronize(stream), hipErrorIllegalAddress);
    CHECK_EQ(word.get()[0], 0);
    OK(hipStreamSynchronize(stream));
}

TEST_CASE("nodes that are switched off") {
    Chain chain;
    OwnExec exec(chain.graph);
    unsigned enabled = 9;
    OK(graph_node_get_enabled(exec, chain.second, &enabled));
    CHECK_EQ(enabled, 1);
    OK(graph_node_set_enabled(exec, chain.second, 0));
    exec.run();
    CHECK_EQ(chain.copy.get()[0], 1);
    OK(graph_node_set_enabled(exec, chain.second, 1));
    exec.run();
    CHECK_EQ(chain.copy.get()[0], 3);
}

TEST_CASE("instantiation with parameters, and flags") {
    Chain chain;
    InstantiateParams params{};
    hipGraphExec_t exec = nullptr;
    params.flags = 2; // upload
    params.result = 9;
    OK(graph_instantiate_with_params(&exec, chain.graph, &params));
    CHECK_EQ(params.result, 0);
    unsigned long long flags = 0;
    OK(graph_exec_get_flags(exec, &flags));
    CHECK_EQ(flags, 2);
    OK(graph_upload(exec, nullptr));
    OK(hipGraphExecDestroy(exec));
    FAILS(hipGraphExecDestroy(exec), hipErrorInvalidValue);
    OK(hipGraphInstantiateWithFlags(&exec, chain.graph, 8)); // priorities of nodes
    OK(hipGraphExecDestroy(exec));
    CapturedStderr said;
    for (const unsigned long long flags_of_params : {2ull, 4ull, 1ull | 8ull, 16ull})
        FAILS(hipGraphInstantiateWithFlags(&exec, chain.graph, flags_of_params),
              hipErrorInvalidValue);
    CHECK(said.text().find("flags 9: must be one of 0, 1, 8") != std::string::npos);
    params.flags = 1 | 2;
    params.result = 0;
    FAILS(graph_instantiate_with_params(&exec, chain.graph, &params), hipErrorInvalidValue);
    CHECK_EQ(params.result, 1);
    params.flags = 4; // launch by a kernel: accepted, as on real ROCm
    OK(graph_instantiate_with_params(&exec, chain.graph, &params));
    OK(hipGraphExecDestroy(exec));
    FAILS(graph_instantiate_with_params(&exec, chain.graph, nullptr), hipErrorInvalidValue);
    FAILS(hipGraphInstantiate(nullptr, chain.graph, nullptr, nullptr, 0), hipErrorInvalidValue);
}

TEST_CASE("a graph as a drawing") {
    Chain chain;
    const std::string path = ScratchFile({}).path + ".dot";
    OK(graph_debug_dot_print(chain.graph, path.c_str(), 0));
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    CHECK(text.find("digraph") == 0);
    CHECK(text.find("increment") != std::string::npos);
    CHECK(text.find("n0_1 -> n0_2;") != std::string::npos);
    for (const char *part : {"subgraph cluster_0 {", "KERNEL"})
        CHECK(text.find(part) != std::string::npos);
    std::filesystem::remove(path);
    FAILS(graph_debug_dot_print(chain.graph, "/no/such/folder/graph.dot", 0),
          hipErrorOperatingSystem);
}
