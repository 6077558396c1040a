// SPDX-License-Identifier: MIT
// Behaviour of ROCm that programs rely on, in corners of the interface.
#include <cstdint>
#include <cstring>

#include "hip/graphs.h"

using namespace hip_test;

extern "C" {
hipError_t host_alloc_63(void **, std::size_t, unsigned) asm("hipExtHostAlloc");
hipError_t library_load(void **, const char *, void *, void **, unsigned, void *, void **,
                        unsigned) asm("hipLibraryLoadFromFile");
hipError_t library_unload(void *) asm("hipLibraryUnload");
hipError_t library_kernels(hipFunction_t *, unsigned, void *) asm("hipLibraryEnumerateKernels");
hipError_t kernel_library(void **, hipFunction_t) asm("hipKernelGetLibrary");
hipError_t kernel_name(const char **, hipFunction_t) asm("hipKernelGetName");
hipError_t prefetch_batch(void **, std::size_t *, std::size_t, hipMemLocation *, std::size_t *,
                          std::size_t, unsigned long long,
                          hipStream_t) asm("hipMemPrefetchBatchAsync");
hipError_t prefetch_to(const void *, std::size_t, hipMemLocation, unsigned,
                       hipStream_t) asm("hipMemPrefetchAsync_v2");
hipError_t advise_at(const void *, std::size_t, hipMemoryAdvise,
                     hipMemLocation) asm("hipMemAdvise_v2");
}

TEST_CASE("managed variables of a loaded module") {
    Code code, other;
    hipDeviceptr_t address = nullptr, theirs = nullptr;
    std::size_t bytes = 0;
    OK(hipModuleGetGlobal(&address, &bytes, code.module, "shared"));
    CHECK_EQ(bytes, 4); // the variable, not the pointer to it
    int *const shared = static_cast<int *>(address);
    CHECK_EQ(*shared, 7); // the host reads it as it is
    OK(launch(code["increment"], 1, nullptr, shared));
    OK(hipDeviceSynchronize());
    CHECK_EQ(*shared, 8);
    hipPointerAttribute_t attributes{};
    OK(hipPointerGetAttributes(&attributes, shared));
    CHECK_EQ(attributes.isManaged, 1);
    OK(hipModuleGetGlobal(&theirs, nullptr, other.module, "shared"));
    CHECK(theirs != address);
    CHECK_EQ(*static_cast<int *>(theirs), 7);
    // Device code reads this: the pointer in the code object.
    hipDeviceptr_t initial = nullptr;
    OK(hipModuleGetGlobal(&initial, &bytes, code.module, "shared.managed"));
    CHECK_EQ(bytes, 4);
    std::uintptr_t pointer = 0;
    std::memcpy(&pointer, static_cast<const char *>(initial) - 8, sizeof pointer);
    CHECK_EQ(pointer, reinterpret_cast<std::uintptr_t>(shared));
}

TEST_CASE("a module takes its managed variables along") {
    hipModule_t module = nullptr;
    OK(hipModuleLoad(&module, code_path().c_str()));
    hipDeviceptr_t address = nullptr;
    OK(hipModuleGetGlobal(&address, nullptr, module, "shared"));
    OK(hipModuleUnload(module));
    int value = 0;
    FAILS(hipMemcpyDtoH(&value, address, 4), hipErrorInvalidValue);
}

TEST_CASE("modules of the same code without variables share it") {
    const std::string path = NW_BUILD_DIR "/tests/hip/code/where_gfx1151.hsaco";
    Ints out(2);
    const auto place = [&](hipModule_t module) {
        hipFunction_t where = nullptr;
        OK(hipModuleGetFunction(&where, module, "where"));
        OK(launch(where, 1, nullptr, out.data));
        OK(hipDeviceSynchronize());
        return out.get();
    };
    hipModule_t first = nullptr, second = nullptr;
    OK(hipModuleLoad(&first, path.c_str()));
    OK(hipModuleLoad(&second, path.c_str()));
    const auto at = place(first);
    CHECK(place(second) == at);
    OK(hipModuleUnload(first));
    CHECK(place(second) == at); // the other one's kernels and memory stay
    OK(hipModuleUnload(second));
    FAILS(hipModuleUnload(first), hipErrorNotFound);
    OK(hipModuleLoad(&first, path.c_str()));
    CHECK(place(first) == at); // kept for the next one
    OK(hipModuleUnload(first));
}

TEST_CASE("graph memory in fill and copy nodes before the first launch") {
    OwnGraph graph;
    AllocationParams params{};
    params.pool.allocType = hipMemAllocationTypePinned;
    params.pool.location = {hipMemLocationTypeDevice, 0};
    params.bytes = 64;
    hipGraphNode_t allocate = nullptr, fill = nullptr, copy = nullptr, release = nullptr;
    OK(graph_add_mem_alloc_node(&allocate, graph, nullptr, 0, &params));
    hipMemsetParams set{};
    set.dst = params.pointer;
    set.elementSize = 4;
    set.width = 16;
    set.height = 1;
    set.value = 5;
    OK(hipGraphAddMemsetNode(&fill, graph, &allocate, 1, &set));
    Ints out(16, 0);
    OK(hipGraphAddMemcpyNode1D(&copy, graph, &fill, 1, out.data, params.pointer, 64,
                               hipMemcpyDeviceToDevice));
    OK(graph_add_mem_free_node(&release, graph, &copy, 1, params.pointer));
    hipGraphNode_t none = nullptr;
    set.width = 17;
    FAILS(hipGraphAddMemsetNode(&none, graph, &allocate, 1, &set), hipErrorInvalidValue);
    FAILS(hipGraphAddMemcpyNode1D(&none, graph, &fill, 1, out.data, params.pointer, 65,
                                  hipMemcpyDeviceToDevice),
          hipErrorInvalidValue);
    OwnExec exec(graph);
    exec.run();
    exec.run();
    CHECK(out.get() == std::vector<int>(16, 5));
    CapturedStderr said; // between launches the memory is not there
    FAILS(hipMemcpy(out.data, params.pointer, 64, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
}

TEST_CASE("asking whether the null stream captures leaves captures alone") {
    Code code;
    Ints word(1, 0);
    OwnStream stream;
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    OK(launch(code["increment"], 1, stream, word.data));
    hipStreamCaptureStatus status{};
    FAILS(hipStreamIsCapturing(nullptr, &status), hipErrorStreamCaptureImplicit);
    OK(hipStreamIsCapturing(stream, &status));
    CHECK_EQ(status, hipStreamCaptureStatusActive);
    hipGraph_t graph = nullptr;
    OK(hipStreamEndCapture(stream, &graph));
    OwnGraph captured(graph);
    OwnExec(captured).run();
    CHECK_EQ(word.get()[0], 1);
}

TEST_CASE("dependencies replaced by hand need not join again") {
    Code code;
    Ints word(1, 0), other(1, 0);
    OwnStream stream, branch;
    OwnEvent forked, joined;
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    OK(launch(code["increment"], 1, stream, word.data));
    const hipGraphNode_t *nodes = nullptr;
    std::size_t count = 0;
    hipStreamCaptureStatus status{};
    unsigned long long id = 0;
    OK(hipStreamGetCaptureInfo_v2(stream, &status, &id, nullptr, &nodes, &count));
    REQUIRE_EQ(count, 1);
    hipGraphNode_t first = nodes[0];
    OK(hipEventRecord(forked, stream));
    OK(hipStreamWaitEvent(branch, forked, 0));
    OK(launch(code["increment"], 1, branch, other.data));
    OK(hipEventRecord(joined, branch));
    OK(hipStreamWaitEvent(stream, joined, 0));
    OK(hipStreamUpdateCaptureDependencies(stream, &first, 1, hipStreamSetCaptureDependencies));
    hipGraph_t graph = nullptr;
    OK(hipStreamEndCapture(stream, &graph));
    OwnGraph captured(graph);
    OwnExec(captured).run();
    CHECK_EQ(word.get()[0], 1);
    CHECK_EQ(other.get()[0], 1);
}

TEST_CASE("events without a system fence") {
    OwnEvent event(0x20000000);
    OK(hipEventRecord(event, nullptr));
    OK(hipEventSynchronize(event));
}

TEST_CASE("names of HIP 6.3 to 7.2") {
    void *pinned = nullptr;
    OK(host_alloc_63(&pinned, 64, 0));
    OK(hipFree(pinned)); // host memory, too

    void *library = nullptr, *owner = nullptr;
    OK(library_load(&library, code_path().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    hipFunction_t kernels[2] = {};
    const char *name = nullptr;
    OK(library_kernels(kernels, 2, library));
    OK(kernel_name(&name, kernels[0]));
    CHECK_EQ(std::string(name), hipKernelNameRef(kernels[0]));
    OK(kernel_library(&owner, kernels[1]));
    CHECK(owner == library);
    FAILS(library_kernels(nullptr, 2, library), hipErrorInvalidValue);
    FAILS(kernel_name(nullptr, kernels[0]), hipErrorInvalidValue);
    Code code;
    FAILS(kernel_library(&owner, code["iota"]), hipErrorInvalidHandle); // a module's
    OK(library_unload(library));
    FAILS(kernel_name(&name, kernels[0]), hipErrorInvalidHandle);

    void *shared = nullptr;
    constexpr std::size_t page = 4096;
    OK(hipMallocManaged(&shared, 3 * page, hipMemAttachGlobal));
    char *const bytes = static_cast<char *>(shared);
    void *ranges[] = {bytes, bytes + page, bytes + 2 * page};
    std::size_t sizes[] = {page, page, page}, first[] = {0, 1};
    hipMemLocation places[] = {{hipMemLocationTypeDevice, 1}, {hipMemLocationType(2), 0}};
    const auto prefetched = [&](const void *range) {
        int at = 9;
        OK(hipMemRangeGetAttribute(&at, sizeof at, hipMemRangeAttributeLastPrefetchLocation, range,
                                   page));
        return at;
    };
    OK(prefetch_batch(ranges, sizes, 3, places, first, 2, 0, nullptr));
    CHECK_EQ(prefetched(ranges[0]), 1);
    CHECK_EQ(prefetched(ranges[1]), -1);
    CHECK_EQ(prefetched(ranges[2]), -1);
    FAILS(prefetch_batch(ranges, sizes, 3, places, first, 4, 0, nullptr), hipErrorInvalidValue);
    OK(prefetch_to(ranges[2], 1024, places[0], 0, nullptr));
    CHECK_EQ(prefetched(ranges[2]), 1);
    OK(advise_at(shared, 4096, hipMemAdviseSetPreferredLocation, places[1]));
    OK(hipFree(shared));
}

TEST_CASE("one stack of configurations for both launch sequences") {
    hipStream_t stream = nullptr;
    dim3 grid, block;
    std::size_t dynamic = 0;
    OK(hipConfigureCall(dim3(3), dim3(64), 128, nullptr));
    OK(__hipPopCallConfiguration(&grid, &block, &dynamic, &stream));
    CHECK_EQ(grid.x, 3);
    CHECK_EQ(block.x, 64);
    CHECK_EQ(dynamic, 128);
    const int argument = 1;
    FAILS(hipSetupArgument(&argument, sizeof argument, 0), hipErrorMissingConfiguration);
}

TEST_CASE("what a function says of its versions") {
    Code code;
    int value = 0;
    OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_BINARY_VERSION, code["iota"]));
    CHECK_EQ(value, 115);
    OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_PTX_VERSION, code["iota"]));
    CHECK_EQ(value, 30);
}
