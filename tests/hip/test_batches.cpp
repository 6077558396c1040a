// SPDX-License-Identifier: MIT
// Batches of copies and of operations on words, copies between devices' boxes, attributes of
// streams: names that are newer than the oldest headers that we build with.
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>

#include "hip/common.h"

using namespace hip_test;

namespace {

struct Op { // hipStreamBatchMemOpParams
    std::uint32_t type;
    void *address;
    std::uint64_t value;
    std::uint32_t flags;
    std::uint64_t unused[2];
};
static_assert(sizeof(Op) == 48);
enum : std::uint32_t { wait32 = 1, write32 = 2, flush = 3, wait64 = 4, write64 = 5 };

struct OpsParams { // hipBatchMemOpNodeParams
    hipCtx_t context;
    unsigned count;
    Op *ops;
    unsigned flags;
};

struct PeerBox { // hipMemcpy3DPeerParms
    hipArray_t from_array;
    hipPos from_at;
    hipPitchedPtr from;
    int from_device;
    hipArray_t to_array;
    hipPos to_at;
    hipPitchedPtr to;
    int to_device;
    hipExtent extent;
};

using Value = std::array<int, 16>; // hipLaunchAttributeValue

extern "C" {
hipError_t draw(hipGraph_t, const char *, unsigned) asm("hipGraphDebugDotPrint");
hipError_t batch_ops(hipStream_t, unsigned, Op *, unsigned) asm("hipStreamBatchMemOp");
hipError_t add_ops(hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t,
                   const OpsParams *) asm("hipGraphAddBatchMemOpNode");
hipError_t get_ops(hipGraphNode_t, OpsParams *) asm("hipGraphBatchMemOpNodeGetParams");
hipError_t set_ops(hipGraphNode_t, const OpsParams *) asm("hipGraphBatchMemOpNodeSetParams");
hipError_t set_exec_ops(hipGraphExec_t, hipGraphNode_t,
                        const OpsParams *) asm("hipGraphExecBatchMemOpNodeSetParams");
hipError_t copy_batch(void **, void **, size_t *, size_t, void *, size_t *, size_t, size_t *,
                      hipStream_t) asm("hipMemcpyBatchAsync");
hipError_t copy_box(PeerBox *) asm("hipMemcpy3DPeer");
hipError_t copy_box_later(PeerBox *, hipStream_t) asm("hipMemcpy3DPeerAsync");
hipError_t get_attribute(hipStream_t, int, Value *) asm("hipStreamGetAttribute");
hipError_t set_attribute(hipStream_t, int, const Value *) asm("hipStreamSetAttribute");
hipError_t copy_attributes(hipStream_t, hipStream_t) asm("hipStreamCopyAttributes");
}

} // namespace

TEST_CASE("a batch of operations on words: waits and writes in order") {
    Ints words(4, 0);
    OwnStream stream(hipStreamNonBlocking), other(hipStreamNonBlocking);
    Op ops[] = {{write32, words.data, 7, 0, {}},
                {wait32, words.data + 1, 3, hipStreamWaitValueGte, {}},
                {write64, words.data + 2, 0x200000001, 0, {}}};
    OK(batch_ops(stream, 3, ops, 0));
    while (words.get()[0] != 7)
        ;
    FAILS(hipStreamQuery(stream), hipErrorNotReady);
    Op release{write32, words.data + 1, 4, 0, {}};
    OK(batch_ops(other, 1, &release, 0));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(words.get(), std::vector<int>{7, 4, 1, 2});
}

TEST_CASE("a batch with a bad operation is refused whole") {
    Ints words(4, 0);
    OwnStream stream;
    const auto refused = [&](Op bad) {
        Op ops[] = {{write32, words.data, 7, 0, {}}, bad};
        FAILS(batch_ops(stream, 2, ops, 0), hipErrorInvalidValue);
    };
    refused({flush, words.data, 0, 0, {}});
    refused({write32, nullptr, 0, 0, {}});
    refused({write64, words.data + 1, 0, 0, {}});
    refused({wait32, words.data, 0, 4, {}});
    refused({write32, words.data, 0, 1, {}});
    FAILS(batch_ops(stream, 1, nullptr, 0), hipErrorInvalidValue);
    Op good{write32, words.data, 7, 0, {}};
    FAILS(batch_ops(stream, 0, &good, 0), hipErrorInvalidValue);
    FAILS(batch_ops(stream, 257, &good, 0), hipErrorInvalidValue);
    FAILS(batch_ops(stream, 1, &good, 1), hipErrorInvalidValue);
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(words.get(), std::vector<int>(4, 0));
}

TEST_CASE("a batch of operations is a node of a graph, also by capture") {
    Ints words(2, 0);
    OwnStream stream;
    hipGraph_t graph = nullptr;
    hipGraphNode_t node = nullptr;
    hipGraphExec_t exec = nullptr;
    OK(hipGraphCreate(&graph, 0));
    Op op{write32, words.data, 5, 0, {}};
    OpsParams params{nullptr, 1, &op, 0}, got{};
    OK(add_ops(&node, graph, nullptr, 0, &params));
    hipGraphNodeType type{};
    OK(hipGraphNodeGetType(node, &type));
    CHECK_EQ(static_cast<int>(type), 14);
    OK(get_ops(node, &got));
    REQUIRE_EQ(got.count, 1);
    CHECK_EQ(got.ops[0].value, 5);
    OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    OK(hipGraphLaunch(exec, stream));
    op.value = 6, op.address = words.data + 1;
    OK(set_exec_ops(exec, node, &params));
    OK(hipGraphLaunch(exec, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(words.get(), std::vector<int>{5, 6});
    OK(get_ops(node, &got)); // the node keeps its own
    CHECK_EQ(got.ops[0].value, 5);
    OK(set_ops(node, &params));
    OK(get_ops(node, &got));
    CHECK_EQ(got.ops[0].value, 6);
    OK(hipGraphExecDestroy(exec));
    const ScratchFile drawing({});
    OK(draw(graph, drawing.path.c_str(), 0));
    std::ifstream file(drawing.path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    CHECK(text.find("MEM_OPS") != std::string::npos);
    OK(hipGraphDestroy(graph));

    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    op.value = 9;
    OK(batch_ops(stream, 1, &op, 0));
    OK(hipStreamEndCapture(stream, &graph));
    CHECK_EQ(words.get()[1], 6);
    OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    OK(hipGraphLaunch(exec, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(words.get()[1], 9);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
}

TEST_CASE("a batch of copies: all, or none and the first bad one") {
    Ints from(100, 3), to(100, 0);
    OwnStream stream;
    std::vector<int> host(50);
    std::iota(host.begin(), host.end(), 0);
    void *targets[] = {to.data, to.data + 50}, *sources[] = {host.data(), from.data};
    size_t bytes[] = {200, 200}, failed = 1;
    OK(copy_batch(targets, sources, bytes, 2, nullptr, nullptr, 0, &failed, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(failed, ~size_t{0});
    host.resize(100, 3);
    CHECK_EQ(to.get(), host);
    targets[0] = from.data, sources[1] = nullptr;
    FAILS(copy_batch(targets, sources, bytes, 2, nullptr, nullptr, 0, &failed, stream),
          hipErrorInvalidValue);
    CHECK_EQ(failed, 1);
    CHECK_EQ(from.get(), std::vector<int>(100, 3));
}

TEST_CASE("boxes are copied between devices") {
    Ints from(64, 8), to(64, 1);
    PeerBox box{};
    box.from = {from.data, 32, 32, 8};
    box.to = {to.data, 32, 32, 8};
    box.to_at = {4, 1, 0};
    box.extent = {8, 2, 1};
    OK(copy_box(&box));
    std::vector<int> expected(64, 1);
    for (const int at : {9, 10, 17, 18})
        expected[at] = 8;
    CHECK_EQ(to.get(), expected);
    OK(hipMemset(to.data, 0, 256));
    OwnStream stream;
    OK(copy_box_later(&box, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(to.get()[18], 8);
    box.to_device = 100;
    FAILS(copy_box(&box), hipErrorInvalidDevice);
    FAILS(copy_box(nullptr), hipErrorInvalidValue);
}

TEST_CASE("attributes of streams are kept") {
    enum { window = 1, cooperative = 2, policy = 3, priority = 8 };
    OwnStream stream, other;
    Value value{}, got{};
    OK(get_attribute(stream, policy, &got));
    CHECK_EQ(got[0], 1); // hipSyncPolicyAuto
    value[0] = 4;
    OK(set_attribute(stream, policy, &value));
    OK(copy_attributes(other, stream));
    OK(get_attribute(other, policy, &got));
    CHECK_EQ(got[0], 4);
    value[0] = 9;
    FAILS(set_attribute(stream, policy, &value), hipErrorInvalidValue);
    FAILS(set_attribute(stream, priority, &value), hipErrorInvalidValue);
    FAILS(get_attribute(stream, cooperative, &got), hipErrorInvalidValue);
    FAILS(get_attribute(stream, policy, nullptr), hipErrorInvalidValue);
    OK(get_attribute(stream, priority, &got));
    CHECK_EQ(got[0], 0);
    OK(get_attribute(stream, window, &got));
    CHECK_EQ(got, Value{});
}
