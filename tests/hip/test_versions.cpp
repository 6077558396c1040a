// SPDX-License-Identifier: MIT
// Structs as hosts of each HIP have them. Structs that the installed headers lack are written
// down here, from the headers of 5.3, 6.3 and 7.1.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hip/graphs.h"

using namespace hip_test;

namespace {

struct Prop52 { // hipMemAllocationProp up to 5.2
    unsigned char compression;
    int location_type, device;
    int handle_type;
    int type;
    unsigned short usage;
    void *win32;
};
struct Prop53 { // since 5.3
    int type;
    int handle_type;
    int location_type, device;
    void *win32;
    unsigned char compression, rdma;
    unsigned short usage;
};
static_assert(sizeof(Prop52) == 32 && offsetof(Prop52, location_type) == 4);
static_assert(offsetof(Prop52, handle_type) == 12 && offsetof(Prop52, type) == 16);
static_assert(sizeof(Prop53) == 32 && offsetof(Prop53, location_type) == 8);
static_assert(offsetof(Prop53, win32) == 16 && offsetof(Prop53, usage) == 26);
static_assert(sizeof(hipMemAllocationProp) == 32);

constexpr std::size_t step = 4096;

template <class Prop> const hipMemAllocationProp *as_header(const Prop &prop) {
    return reinterpret_cast<const hipMemAllocationProp *>(&prop);
}

template <class Prop> void use(const Prop &prop) {
    std::size_t granularity = 0;
    OK(hipMemGetAllocationGranularity(&granularity, as_header(prop),
                                      hipMemAllocationGranularityMinimum));
    CHECK_EQ(granularity, step);
    hipMemGenericAllocationHandle_t handle = nullptr;
    OK(hipMemCreate(&handle, step, as_header(prop), 0));
    Prop seen;
    std::memset(static_cast<void *>(&seen), 0xee, sizeof seen);
    OK(hipMemGetAllocationPropertiesFromHandle(reinterpret_cast<hipMemAllocationProp *>(&seen),
                                               handle));
    CHECK_EQ(seen.type, prop.type);
    CHECK_EQ(seen.location_type, prop.location_type);
    CHECK_EQ(seen.device, prop.device);
    CHECK_EQ(seen.handle_type, prop.handle_type);
    CHECK_EQ(seen.compression, 0);
    CHECK_EQ(seen.usage, 0);
    OK(hipMemRelease(handle));
}

template <class Prop> void refuse(const Prop &prop) {
    hipMemGenericAllocationHandle_t handle = nullptr;
    FAILS(hipMemCreate(&handle, step, as_header(prop), 0), hipErrorInvalidValue);
}

} // namespace

extern "C" hipError_t add_fill(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                               std::size_t count, const void *params,
                               hipCtx_t context) asm("hipDrvGraphAddMemsetNode");

TEST_CASE("hipMemAllocationProp of HIP 5.2, and since 5.3") {
    for (const int handle_type : {0, 1}) {
        use(Prop52{.compression = 0,
                   .location_type = 1,
                   .device = 0,
                   .handle_type = handle_type,
                   .type = 1,
                   .usage = 0,
                   .win32 = nullptr});
        use(Prop53{.type = 1,
                   .handle_type = handle_type,
                   .location_type = 1,
                   .device = 0,
                   .win32 = nullptr,
                   .compression = 0,
                   .rdma = 0,
                   .usage = 0});
    }
    use(Prop53{.type = 0x40000000, .location_type = 1}); // uncached, since 7
    use(Prop52{.location_type = 1, .device = 1, .type = 1});
    use(Prop53{.type = 1, .location_type = 1, .device = 1});
    refuse(Prop52{});
    refuse(Prop53{.type = 2, .location_type = 1});
    refuse(Prop53{.type = 1, .location_type = 0});
    refuse(Prop53{.type = 1, .location_type = 1, .device = 7});
    refuse(Prop52{.location_type = 1, .device = 7, .type = 1});
    refuse(Prop52{.location_type = 1, .device = 0, .type = 0});
}

// HIP_MEMSET_NODE_PARAMS of 6.3, and hipMemsetParams of all others.
TEST_CASE("fill nodes of the driver's API in both layouts") {
    struct Narrow {
        void *to;
        std::size_t pitch;
        unsigned value, element;
        std::size_t width, height;
    };
    static_assert(sizeof(Narrow) == 40 && offsetof(Narrow, element) == 20);
    static_assert(offsetof(hipMemsetParams, elementSize) == 8 &&
                  offsetof(hipMemsetParams, value) == 32 && sizeof(hipMemsetParams) == 48);
    Ints to(4, 0);
    OwnGraph graph;
    hipGraphNode_t first = nullptr, second = nullptr;
    hipCtx_t context = nullptr;
    OK(hipCtxGetCurrent(&context));
    const Narrow narrow{to.data, 4, 7, 4, 1, 1};
    hipMemsetParams wide{};
    wide.dst = to.data + 2;
    wide.elementSize = 4;
    wide.height = 1;
    wide.pitch = 8;
    wide.value = 8;
    wide.width = 2;
    OK(add_fill(&first, graph, nullptr, 0, &narrow, context));
    OK(add_fill(&second, graph, nullptr, 0, &wide, context));
    OwnExec(graph).run();
    CHECK(to.get() == std::vector<int>{7, 0, 8, 8});
    Narrow bad = narrow;
    bad.element = 3;
    FAILS(add_fill(&first, graph, nullptr, 0, &bad, context), hipErrorInvalidValue);
    FAILS(add_fill(&first, graph, nullptr, 0, nullptr, context), hipErrorInvalidValue);
}
