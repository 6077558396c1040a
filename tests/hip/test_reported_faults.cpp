// SPDX-License-Identifier: MIT
// HIPSIM_CHOICES that let memory, copies and graphs do what cards are reported to do wrong.
#include "hip/common.h"
#include "hip/graphs.h"

using namespace hip_test;

namespace {

constexpr unsigned registered_coarse = hipExtHostRegisterCoarseGrained;

// Memory of the host that kernels read.
struct HostInts {
    explicit HostInts(unsigned flags, std::size_t count = 64) {
        OK(hipHostMalloc(reinterpret_cast<void **>(&data), 4 * count, flags));
    }
    ~HostInts() { static_cast<void>(hipHostFree(data)); }
    HostInts(const HostInts &) = delete;
    int *data = nullptr;
};

int read_by_kernel(const Code &code, int *from) {
    Ints out(1, -1);
    OK(launch(code["read_at"], 1, nullptr, out.data, from));
    return out.get()[0];
}

// Value that a kernel reads after the host has written 1, a kernel has read it, and the host has
// written 2.
int second_value(unsigned flags, const std::string &device) {
    const OwnDevice own(device);
    const Code code;
    const HostInts shared(flags);
    shared.data[0] = 1;
    CHECK_EQ(read_by_kernel(code, shared.data), 1);
    OK(hipDeviceSynchronize());
    shared.data[0] = 2;
    return read_by_kernel(code, shared.data);
}

// As second_value(), of copies of `bytes` from pageable memory, each to a place of its own.
std::vector<int> copied(std::size_t bytes, int copies, const std::string &device) {
    const OwnDevice own(device);
    const std::size_t words = bytes / 4;
    Ints there(words * static_cast<std::size_t>(copies), -1);
    const std::vector<int> here(words, 7);
    for (int i = 0; i < copies; ++i)
        OK(hipMemcpyAsync(there.data + static_cast<std::size_t>(i) * words, here.data(), bytes,
                          hipMemcpyHostToDevice, nullptr));
    OK(hipDeviceSynchronize());
    return there.get();
}

} // namespace

TEST_CASE("L2 keeps lines of host memory that is not coherent, on gfx10 and gfx11") {
    for (const char *gfx : {"gfx1030", "gfx1151", "gfx1201"}) {
        CAPTURE(gfx);
        const std::string stale = std::string(gfx) + "?choices=host_lines=stale";
        const bool acquires = std::string(gfx) == "gfx1201";
        CHECK_EQ(second_value(hipHostMallocNonCoherent, gfx), 2);
        CHECK_EQ(second_value(hipHostMallocNonCoherent, stale), acquires ? 2 : 1);
        CHECK_EQ(second_value(hipHostMallocCoherent, stale), 2);
    }
}

TEST_CASE("what a kernel wrote is there for the host, and for later kernels") {
    const OwnDevice own("gfx1151?choices=host_lines=stale");
    const Code code;
    const HostInts shared(hipHostMallocNonCoherent);
    shared.data[0] = 5, shared.data[1] = 6;
    OK(launch(code["increment"], 1, nullptr, shared.data));
    OK(hipDeviceSynchronize());
    CHECK_EQ(shared.data[0], 6);
    shared.data[1] = 9; // the host's own write stays, in the same line
    OK(launch(code["increment"], 1, nullptr, shared.data));
    OK(hipDeviceSynchronize());
    CHECK_EQ(shared.data[0], 7);
    CHECK_EQ(shared.data[1], 9);
    CHECK_EQ(read_by_kernel(code, shared.data + 1), 6);
}

TEST_CASE("L2 keeps lines of registered pages, but of none that were freed") {
    const OwnDevice own("gfx1151?choices=host_lines=stale");
    const Code code;
    std::vector<int> pages(1024, 1);
    OK(hipHostRegister(pages.data(), 4096, registered_coarse));
    CHECK_EQ(read_by_kernel(code, pages.data()), 1);
    pages[0] = 2;
    CHECK_EQ(read_by_kernel(code, pages.data()), 1);
    OK(hipHostUnregister(pages.data()));
    OK(hipHostRegister(pages.data(), 4096, registered_coarse)); // another block
    CHECK_EQ(read_by_kernel(code, pages.data()), 2);
    OK(hipHostUnregister(pages.data()));
}

TEST_CASE("copies from pageable memory that share a line of gfx11's staging") {
    const std::string lost = "?choices=staged_copies=lost";
    const std::vector<int> whole(4 * 8, 7);
    CHECK_EQ(copied(32, 4, "gfx1100"), whole);
    CHECK_EQ(copied(32, 4, "gfx1201" + lost), whole);
    std::vector<int> want = whole; // every second copy reads what was in the line
    std::fill(want.begin() + 8, want.begin() + 16, 0);
    std::fill(want.begin() + 24, want.end(), 0);
    CHECK_EQ(copied(32, 4, "gfx1100" + lost), want);
    CHECK_EQ(copied(128, 2, "gfx1100" + lost), std::vector<int>(64, 7)); // whole lines
    std::vector<int> torn(96, 7);                                        // a line and a half each
    std::fill(torn.begin() + 48, torn.begin() + 64, 0);
    CHECK_EQ(copied(192, 2, "gfx1100" + lost), torn);
}

TEST_CASE("and pinned memory is not staged") {
    const OwnDevice own("gfx1100?choices=staged_copies=lost");
    const HostInts pinned(hipHostMallocDefault);
    Ints there(2, -1);
    pinned.data[0] = 7;
    for (int i = 0; i < 2; ++i)
        OK(hipMemcpyAsync(there.data + i, pinned.data, 4, hipMemcpyHostToDevice, nullptr));
    OK(hipDeviceSynchronize());
    CHECK_EQ(there.get(), std::vector<int>{7, 7});
}

TEST_CASE("a staged copy that is late arrives after the next kernel") {
    const OwnDevice own("gfx1100?choices=staged_copies=late");
    const Code code;
    Ints there(2, -1);
    const int seven = 7;
    for (int i = 0; i < 2; ++i)
        OK(hipMemcpy(there.data + i, &seven, 4, hipMemcpyHostToDevice));
    CHECK_EQ(read_by_kernel(code, there.data + 1), -1);
    CHECK_EQ(there.get(), std::vector<int>{7, 7});
}

TEST_CASE("a mapping that is late: the next kernel reads zeros, and its stores vanish") {
    for (const char *choice : {"", "?choices=mappings=late"}) {
        CAPTURE(choice);
        const OwnDevice own(std::string("gfx1201") + choice);
        const Code code;
        const int there = *choice ? 0 : 1;
        int *data = nullptr;
        OK(hipMallocAsync(reinterpret_cast<void **>(&data), 4, nullptr));
        OK(hipMemset(data, 0, 4));
        OK(launch(code["increment"], 1, nullptr, data));
        CHECK_EQ(read_by_kernel(code, data), there);
        OK(launch(code["increment"], 1, nullptr, data)); // now it is
        CHECK_EQ(read_by_kernel(code, data), there + 1);
        OK(hipFreeAsync(data, nullptr));
    }
}

TEST_CASE("the first launch of a graph after an update has the old arguments") {
    for (const char *choice : {"", "?choices=graph_packets=old"}) {
        CAPTURE(choice);
        const OwnDevice own(std::string("gfx1201") + choice);
        const Code code;
        Ints one(1, 0), other(1, 0);
        OwnGraph graph;
        const hipGraphNode_t node = graph.kernel(code["increment"], {}, one.data);
        const OwnExec exec(graph);
        exec.run();
        void *arguments[] = {&other.data};
        hipKernelNodeParams params{};
        params.func = reinterpret_cast<void *>(code["increment"]);
        params.gridDim = params.blockDim = dim3(1);
        params.kernelParams = arguments;
        OK(hipGraphExecKernelNodeSetParams(exec, node, &params));
        exec.run();
        CHECK_EQ(one.get()[0], *choice ? 2 : 1);
        CHECK_EQ(other.get()[0], *choice ? 0 : 1);
        exec.run();
        CHECK_EQ(other.get()[0], *choice ? 1 : 2);
    }
}

TEST_CASE("a graph does not see the copy before it, unless the host has waited") {
    for (const bool waits : {false, true}) {
        CAPTURE(waits);
        const OwnDevice own("gfx1201?choices=graph_copies=after");
        const Code code;
        Ints input(1, 1), out(1, -1);
        const HostInts pinned(hipHostMallocDefault);
        pinned.data[0] = 2;
        OwnGraph graph;
        graph.kernel(code["read_at"], {}, out.data, input.data);
        const OwnExec exec(graph);
        OK(hipMemcpyAsync(input.data, pinned.data, 4, hipMemcpyHostToDevice, nullptr));
        if (waits)
            OK(hipStreamSynchronize(nullptr));
        exec.run();
        CHECK_EQ(out.get()[0], waits ? 2 : 1);
        CHECK_EQ(input.get()[0], 2);
        exec.run();
        CHECK_EQ(out.get()[0], 2);
    }
}
