// SPDX-License-Identifier: MIT
// Stream capture: nodes made from queued commands, and calls that are forbidden meanwhile.
#include <thread>

#include "hip/graphs.h"

using namespace hip_test;

extern "C" hipError_t record_with_flags(hipEvent_t, hipStream_t,
                                        unsigned) asm("hipEventRecordWithFlags");
extern "C" hipError_t begin_to_graph(hipStream_t, hipGraph_t, const hipGraphNode_t *, const void *,
                                     std::size_t,
                                     hipStreamCaptureMode) asm("hipStreamBeginCaptureToGraph");

namespace {

void begin(hipStream_t stream, hipStreamCaptureMode mode = hipStreamCaptureModeGlobal) {
    OK(hipStreamBeginCapture(stream, mode));
}

hipGraph_t end(hipStream_t stream) {
    hipGraph_t graph = nullptr;
    OK(hipStreamEndCapture(stream, &graph));
    return graph;
}

std::string failed_end(hipStream_t stream) {
    hipGraph_t graph = nullptr;
    const std::string code = hipGetErrorName(hipStreamEndCapture(stream, &graph));
    CHECK_EQ(graph, nullptr);
    return code;
}

hipStreamCaptureStatus status(hipStream_t stream) {
    hipStreamCaptureStatus now{};
    OK(hipStreamIsCapturing(stream, &now));
    return now;
}

std::size_t node_count(hipGraph_t graph) {
    std::size_t count = 0;
    OK(hipGraphGetNodes(graph, nullptr, &count));
    return count;
}

struct Mode { // of the thread, while it lives
    explicit Mode(hipStreamCaptureMode mode) : mode(mode) {
        OK(hipThreadExchangeStreamCaptureMode(&this->mode));
    }
    ~Mode() { static_cast<void>(hipThreadExchangeStreamCaptureMode(&mode)); }
    hipStreamCaptureMode mode;
};

} // namespace

TEST_CASE("what is captured does not run, and then as often as it is launched") {
    Code code;
    Ints word(1, 0), copy(1, -1);
    int host = -1;
    OwnStream stream;
    begin(stream);
    CHECK_EQ(status(stream), hipStreamCaptureStatusActive);
    OK(hipMemsetD32Async(word.data, 10, 1, stream));
    OK(launch(code["increment"], 1, stream, word.data));
    OK(hipMemcpyAsync(copy.data, word.data, 4, hipMemcpyDeviceToDevice, stream));
    OK(hipMemcpyAsync(&host, word.data, 4, hipMemcpyDeviceToHost, stream)); // pageable
    OK(hipLaunchHostFunc(
        stream, [](void *at) { ++*static_cast<int *>(at); }, &host));
    OwnGraph graph(end(stream));
    CHECK_EQ(status(stream), hipStreamCaptureStatusNone);
    CHECK_EQ(node_count(graph), 5);
    CHECK_EQ(copy.get()[0], -1);
    OwnExec exec(graph);
    exec.run();
    CHECK_EQ(copy.get()[0], 11);
    CHECK_EQ(host, 12);
    OK(launch(code["increment"], 1, stream, word.data)); // the stream is free again
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(word.get()[0], 12);
}

TEST_CASE("arguments are copied when they are captured") {
    Code code;
    Ints out(2, -1);
    OwnStream stream;
    begin(stream);
    int first = 5, n = 2;
    void *params[] = {&out.data, &first, &n};
    OK(hipModuleLaunchKernel(code["iota"], 1, 1, 1, 32, 1, 1, 0, stream, params, nullptr));
    first = n = -1;
    OwnGraph graph(end(stream));
    OwnExec(graph).run();
    CHECK(out.get() == std::vector<int>{5, 6});
}

TEST_CASE("streams join by events and must come back") {
    Code code;
    Ints a(1, 0), b(1, 0), sum(1, 0);
    OwnStream main, side;
    OwnEvent fork, join;
    begin(main);
    OK(launch(code["increment"], 1, main, a.data));
    OK(hipEventRecord(fork, main));
    OK(hipStreamWaitEvent(side, fork, 0));
    CHECK_EQ(status(side), hipStreamCaptureStatusActive);
    OK(launch(code["increment"], 1, side, b.data));
    OK(hipEventRecord(join, side));
    OK(launch(code["increment"], 1, main, a.data));
    SUBCASE("joined") {
        OK(hipStreamWaitEvent(main, join, 0));
        OK(hipMemcpyAsync(sum.data, b.data, 4, hipMemcpyDeviceToDevice, main));
        OwnGraph graph(end(main));
        CHECK_EQ(status(side), hipStreamCaptureStatusNone);
        hipGraphNode_t nodes[4] = {};
        std::size_t count = 4;
        OK(hipGraphGetNodes(graph, nodes, &count));
        REQUIRE_EQ(count, 4);
        std::size_t before = 0;
        OK(hipGraphNodeGetDependencies(nodes[3], nullptr, &before));
        CHECK_EQ(before, 2); // both branches
        OwnExec(graph).run();
        CHECK_EQ(a.get()[0], 2);
        CHECK_EQ(sum.get()[0], 1);
    }
    SUBCASE("not joined") { CHECK_EQ(failed_end(main), "hipErrorStreamCaptureUnjoined"); }
    SUBCASE("ended in the wrong stream") {
        CHECK_EQ(failed_end(side), "hipErrorStreamCaptureUnmatched");
        CHECK_EQ(failed_end(main), "hipErrorStreamCaptureUnjoined");
    }
    OK(launch(code["increment"], 1, side, b.data)); // both are free again
    OK(hipDeviceSynchronize());
}

TEST_CASE("two captures can't merge, nor depend on what is not captured") {
    OwnStream one(hipStreamNonBlocking), two(hipStreamNonBlocking);
    OwnEvent event;
    SUBCASE("merge") {
        begin(one, hipStreamCaptureModeRelaxed);
        begin(two, hipStreamCaptureModeRelaxed);
        OK(hipEventRecord(event, one));
        FAILS(hipStreamWaitEvent(two, event, 0), hipErrorStreamCaptureMerge);
        OK(hipGraphDestroy(end(two)));
    }
    SUBCASE("isolation") {
        OK(hipEventRecord(event, two));
        begin(one);
        FAILS(hipStreamWaitEvent(one, event, 0), hipErrorStreamCaptureIsolation);
        CHECK_EQ(status(one), hipStreamCaptureStatusInvalidated);
        FAILS(hipEventRecord(event, one), hipErrorStreamCaptureInvalidated);
        CHECK_EQ(failed_end(one), "hipErrorStreamCaptureInvalidated");
        begin(one);
    }
    OK(hipGraphDestroy(end(one)));
}

TEST_CASE("what would wait for a capturing stream invalidates the capture") {
    OwnStream stream;
    OwnEvent event;
    begin(stream);
    OK(hipEventRecord(event, stream));
    SUBCASE("hipStreamSynchronize") {
        FAILS(hipStreamSynchronize(stream), hipErrorStreamCaptureUnsupported);
    }
    SUBCASE("hipStreamQuery") { FAILS(hipStreamQuery(stream), hipErrorStreamCaptureUnsupported); }
    SUBCASE("hipDeviceSynchronize") {
        FAILS(hipDeviceSynchronize(), hipErrorStreamCaptureUnsupported);
    }
    SUBCASE("hipEventSynchronize") { FAILS(hipEventSynchronize(event), hipErrorCapturedEvent); }
    SUBCASE("hipEventQuery") { FAILS(hipEventQuery(event), hipErrorCapturedEvent); }
    SUBCASE("hipStreamAddCallback") {
        FAILS(hipStreamAddCallback(
                  stream, [](hipStream_t, hipError_t, void *) {}, nullptr, 0),
              hipErrorStreamCaptureUnsupported);
    }
    SUBCASE("hipMemcpy") {
        int from = 0, to = 0;
        FAILS(hipMemcpy(&to, &from, 4, hipMemcpyHostToHost), hipErrorStreamCaptureImplicit);
    }
    SUBCASE("work in the null stream") {
        Code *code = nullptr;
        static_cast<void>(code);
        FAILS(hipMemsetAsync(nullptr, 0, 0, nullptr), hipSuccess); // nothing to do: allowed
        FAILS(hipLaunchHostFunc(
                  nullptr, [](void *) {}, nullptr),
              hipErrorStreamCaptureImplicit);
    }
    CHECK_EQ(failed_end(stream), "hipErrorStreamCaptureInvalidated");
    OK(hipStreamSynchronize(stream));
}

TEST_CASE("allocation during a capture goes by the thread's mode") {
    OwnStream stream;
    void *data = nullptr;
    SUBCASE("global") {
        begin(stream);
        FAILS(hipMalloc(&data, 64), hipErrorStreamCaptureUnsupported);
        CHECK_EQ(failed_end(stream), "hipErrorStreamCaptureInvalidated");
        return;
    }
    SUBCASE("global, another thread's capture") {
        begin(stream);
        std::thread([&] {
            CHECK_EQ(hipMalloc(&data, 64), hipErrorStreamCaptureUnsupported);
        }).join();
        CHECK_EQ(failed_end(stream), "hipErrorStreamCaptureInvalidated");
        return;
    }
    SUBCASE("thread-local, another thread") {
        begin(stream, hipStreamCaptureModeThreadLocal);
        std::thread([&] { CHECK_EQ(hipMalloc(&data, 64), hipSuccess); }).join();
    }
    SUBCASE("relaxed capture") {
        begin(stream, hipStreamCaptureModeRelaxed);
        OK(hipMalloc(&data, 64));
    }
    SUBCASE("relaxed thread") {
        begin(stream);
        Mode relaxed(hipStreamCaptureModeRelaxed);
        OK(hipMalloc(&data, 64));
    }
    OK(hipGraphDestroy(end(stream)));
    OK(hipFree(data));
}

TEST_CASE("beginning and ending: what HIP refuses") {
    OwnStream stream;
    FAILS(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal),
          hipErrorStreamCaptureUnsupported);
    FAILS(hipStreamBeginCapture(stream, static_cast<hipStreamCaptureMode>(7)),
          hipErrorInvalidValue);
    CHECK_EQ(failed_end(stream), "hipErrorIllegalState");
    CHECK_EQ(failed_end(nullptr), "hipErrorIllegalState");
    begin(stream);
    FAILS(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipErrorIllegalState);
    std::thread([&] { CHECK_EQ(failed_end(stream), "hipErrorStreamCaptureWrongThread"); }).join();
    FAILS(hipStreamEndCapture(stream, nullptr), hipErrorInvalidValue);
    OK(hipGraphDestroy(end(stream)));
    hipStreamCaptureMode mode = static_cast<hipStreamCaptureMode>(9);
    FAILS(hipThreadExchangeStreamCaptureMode(&mode), hipErrorInvalidValue);
}

TEST_CASE("a stream that is destroyed ends its capture") {
    hipStream_t stream = nullptr;
    OK(hipStreamCreate(&stream));
    begin(stream);
    OK(hipStreamDestroy(stream));
    void *data = nullptr;
    OK(hipMalloc(&data, 4)); // no active capture
    OK(hipFree(data));
}

TEST_CASE("asking about a capture, and steering it") {
    Code code;
    Ints word(1, 0), other(1, 0);
    OwnStream stream;
    begin(stream);
    OK(launch(code["increment"], 1, stream, word.data));
    hipStreamCaptureStatus now{};
    unsigned long long id = 0, again = 0;
    hipGraph_t graph = nullptr;
    const hipGraphNode_t *nodes = nullptr;
    std::size_t count = 0;
    OK(hipStreamGetCaptureInfo_v2(stream, &now, &id, &graph, &nodes, &count));
    CHECK_EQ(now, hipStreamCaptureStatusActive);
    CHECK_GT(id, 0);
    REQUIRE_EQ(count, 1);
    OK(hipStreamGetCaptureInfo(stream, &now, &again));
    CHECK_EQ(id, again);
    // A node by hand, that the stream's next one waits for.
    OwnGraph by_hand(graph);
    hipGraphNode_t added = by_hand.kernel(code["increment"], {nodes[0]}, word.data);
    by_hand.release();
    OK(hipStreamUpdateCaptureDependencies(stream, &added, 1, hipStreamSetCaptureDependencies));
    OK(hipMemcpyAsync(other.data, word.data, 4, hipMemcpyDeviceToDevice, stream));
    FAILS(hipStreamUpdateCaptureDependencies(stream, nullptr, 1, 0), hipErrorInvalidValue);
    OwnGraph captured(end(stream));
    CHECK_EQ(captured.handle, graph);
    OwnExec(captured).run();
    CHECK_EQ(other.get()[0], 2);
    OK(hipStreamGetCaptureInfo(stream, &now, &again));
    CHECK_EQ(now, hipStreamCaptureStatusNone);
    FAILS(hipStreamUpdateCaptureDependencies(stream, &added, 1, 0), hipErrorIllegalState);
}

TEST_CASE("capture into a graph that is there") {
    Code code;
    Ints word(1, 0);
    OwnGraph graph;
    const hipGraphNode_t first = graph.kernel(code["increment"], {}, word.data);
    OwnStream stream;
    OK(begin_to_graph(stream, graph, &first, nullptr, 1, hipStreamCaptureModeGlobal));
    OK(launch(code["increment"], 1, stream, word.data));
    CHECK_EQ(end(stream), graph.handle);
    CHECK_EQ(node_count(graph), 2);
    OwnExec(graph).run();
    CHECK_EQ(word.get()[0], 2);
    FAILS(begin_to_graph(stream, graph, nullptr, &word, 0, hipStreamCaptureModeGlobal),
          hipErrorNotSupported); // edge data
}

TEST_CASE("external events in a capture are nodes") {
    OwnStream stream, other;
    OwnEvent inner, outer;
    begin(stream);
    OK(hipStreamWaitEvent(stream, outer, 1));
    OK(record_with_flags(inner, stream, 1));
    OwnGraph graph(end(stream));
    CHECK_EQ(node_count(graph), 2);
    OwnExec(graph).run();
    OK(hipEventQuery(inner));
    FAILS(hipStreamWaitEvent(other, outer, 1), hipErrorInvalidHandle); // not capturing
    FAILS(hipStreamWaitEvent(other, outer, 2), hipErrorInvalidValue);
}

TEST_CASE("a graph launched while the stream captures is a child") {
    Code code;
    Ints word(1, 0);
    OwnGraph inner;
    inner.kernel(code["increment"], {}, word.data);
    OwnExec exec(inner);
    OwnStream stream;
    begin(stream);
    OK(hipGraphLaunch(exec, stream));
    OK(hipGraphLaunch(exec, stream));
    OwnGraph outer(end(stream));
    CHECK_EQ(node_count(outer), 2);
    CHECK_EQ(word.get()[0], 0);
    OwnExec(outer).run();
    CHECK_EQ(word.get()[0], 2);
}

TEST_CASE("stream-ordered memory in a capture is the graph's") {
    Code code;
    Ints out(1, -1);
    OwnStream stream;
    int *memory = nullptr;
    begin(stream);
    OK(hipMallocAsync(reinterpret_cast<void **>(&memory), 64, stream));
    OK(launch(code["iota"], 32, stream, memory, 90, 1));
    OK(launch(code["read_at"], 1, stream, out.data, memory));
    OK(hipFreeAsync(memory, stream));
    OwnGraph graph(end(stream));
    CHECK_EQ(node_count(graph), 4);
    OwnExec exec(graph);
    exec.run();
    exec.run();
    CHECK_EQ(out.get()[0], 90);
}

TEST_CASE("threads capture side by side") {
    Code code;
    const hipFunction_t increment = code["increment"];
    Ints words(4, 0);
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&, thread] {
            hipStream_t stream = nullptr;
            failures += hipStreamCreateWithFlags(&stream, hipStreamNonBlocking) != hipSuccess;
            for (int round = 0; round < 20; ++round) {
                hipGraph_t graph = nullptr;
                hipGraphExec_t exec = nullptr;
                failures +=
                    hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal) != hipSuccess;
                failures += launch(increment, 1, stream, words.data + thread) != hipSuccess;
                failures += launch(increment, 1, stream, words.data + thread) != hipSuccess;
                failures += hipStreamEndCapture(stream, &graph) != hipSuccess;
                failures += hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0) != hipSuccess;
                failures += hipGraphLaunch(exec, stream) != hipSuccess;
                failures += hipGraphExecDestroy(exec) != hipSuccess; // its run continues
                failures += hipGraphDestroy(graph) != hipSuccess;
            }
            failures += hipStreamDestroy(stream) != hipSuccess;
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK_EQ(failures.load(), 0);
    CHECK(words.get() == std::vector<int>(4, 40));
}
