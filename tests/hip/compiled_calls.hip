// SPDX-License-Identifier: MIT
// The calls that only programs with kernels of their own can make: by the address of a kernel or a variable.
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL __attribute__((global))
#define DEVICE __attribute__((device))
#define MANAGED __attribute__((managed))

DEVICE int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
DEVICE int unused[4];
MANAGED int shared_count = 40;

static DEVICE int lane() { return __builtin_amdgcn_workitem_id_x(); }

KERNEL void sum_table(int *out) { out[lane()] = table[lane() & 7] + (int)__builtin_amdgcn_workgroup_size_x(); }

KERNEL void count_up(int by) {
    if (lane() == 0)
        __hip_atomic_fetch_add(&shared_count, by, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s\n0 passed, 1 failed\n", __LINE__, #condition);                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define OK(call) CHECK((call) == hipSuccess)

static int *out, got[32];

static void check_sum(int block, int first) {
    OK(hipMemcpy(got, out, sizeof got, hipMemcpyDeviceToHost));
    for (int i = 0; i < 32; ++i)
        CHECK(got[i] == first + (i & 7) + block);
    OK(hipMemset(out, 0, sizeof got));
}

static void symbols() {
    int values[8] = {11, 12, 13, 14, 15, 16, 17, 18}, back[8] = {};
    OK(hipMemcpyToSymbol(table, values, sizeof values, 0, hipMemcpyHostToDevice));
    sum_table<<<dim3(1), dim3(32)>>>(out);
    check_sum(32, 11);
    OK(hipMemcpyFromSymbol(back, table, 16, 16, hipMemcpyDeviceToHost));
    CHECK(back[0] == 15 && back[3] == 18 && back[4] == 0);
    OK(hipMemcpyToSymbolAsync(table, values, 4, 28, hipMemcpyHostToDevice, nullptr));
    OK(hipMemcpyFromSymbolAsync(back, table, 4, 28, hipMemcpyDeviceToHost, nullptr));
    OK(hipStreamSynchronize(nullptr));
    CHECK(back[0] == 11);
    CHECK(hipMemcpyToSymbol(table, values, sizeof values, 4, hipMemcpyHostToDevice) != hipSuccess);
    CHECK(hipMemcpyToSymbol(values, values, 4, 0, hipMemcpyHostToDevice) == hipErrorInvalidSymbol);
    for (int &v : values)
        v -= 10;
    OK(hipMemcpyToSymbol(table, values, sizeof values, 0, hipMemcpyHostToDevice));
}

static void managed() {
    CHECK(shared_count == 40);
    count_up<<<dim3(3), dim3(64)>>>(2);
    OK(hipDeviceSynchronize());
    CHECK(shared_count == 46);
    shared_count = 1;
    count_up<<<dim3(1), dim3(1)>>>(1);
    OK(hipDeviceSynchronize());
    CHECK(shared_count == 2);
}

static void launches() {
    void *params[] = {&out};
    const void *kernel = (const void *)sum_table;
    OK(hipLaunchKernel(kernel, dim3(1), dim3(32), params, 0, nullptr));
    check_sum(32, 1);
    OK(hipLaunchCooperativeKernel(kernel, dim3(1), dim3(32), params, 0, nullptr));
    check_sum(32, 1);
    hipEvent_t start, stop;
    OK(hipEventCreate(&start));
    OK(hipEventCreate(&stop));
    OK(hipExtLaunchKernel(kernel, dim3(1), dim3(32), params, 0, nullptr, start, stop, 0));
    OK(hipEventSynchronize(stop));
    OK(hipEventQuery(start));
    check_sum(32, 1);
    OK(hipEventDestroy(start));
    OK(hipEventDestroy(stop));
    CHECK(hipLaunchKernel(&out, dim3(1), dim3(32), params, 0, nullptr) == hipErrorInvalidDeviceFunction);
    CHECK(hipLaunchKernel(nullptr, dim3(1), dim3(32), params, 0, nullptr) == hipErrorInvalidDeviceFunction);
    CHECK(hipLaunchKernel(kernel, dim3(1), dim3(1025), params, 0, nullptr) == hipErrorInvalidValue);
    CHECK(hipLaunchKernel(kernel, dim3(1u << 31), dim3(32), params, 0, nullptr) == hipErrorInvalidConfiguration);
}

static void questions() {
    const void *kernel = (const void *)sum_table;
    hipFuncAttributes attributes;
    memset(&attributes, 0, sizeof attributes);
    OK(hipFuncGetAttributes(&attributes, kernel));
    CHECK(attributes.maxThreadsPerBlock == 1024 && attributes.numRegs > 0 && attributes.sharedSizeBytes == 0);
    int groups = 0, grid = 0, block = 0;
    OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&groups, kernel, 256, 0));
    CHECK(groups > 0 && groups * 256 / 32 <= 64); // 16 waves on each of a WGP's 4 SIMDs
    OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, kernel, 0, 0));
    CHECK(grid > 0 && block > 0 && block <= 1024);
    OK(hipFuncSetCacheConfig(kernel, hipFuncCachePreferL1));
}

static void graph() {
    hipStream_t stream;
    hipGraph_t captured;
    hipGraphExec_t exec;
    int value = 100, read = 0;
    OK(hipStreamCreate(&stream));
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    OK(hipMemcpyToSymbolAsync(unused, &value, 4, 8, hipMemcpyHostToDevice, stream));
    sum_table<<<dim3(1), dim3(32), 0, stream>>>(out);
    OK(hipMemcpyFromSymbolAsync(&read, unused, 4, 8, hipMemcpyDeviceToHost, stream));
    OK(hipStreamEndCapture(stream, &captured));
    OK(hipGraphInstantiate(&exec, captured, nullptr, nullptr, 0));
    OK(hipGraphLaunch(exec, stream));
    OK(hipStreamSynchronize(stream));
    CHECK(read == 100);
    check_sum(32, 1);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(captured));
    OK(hipStreamDestroy(stream));
}

// The forms for a default stream per thread, and names that headers have renamed.
extern "C" {
hipError_t to_symbol_own(const void *, const void *, size_t, size_t, hipMemcpyKind) asm("hipMemcpyToSymbol_spt");
hipError_t from_symbol_own(void *, const void *, size_t, size_t, hipMemcpyKind) asm("hipMemcpyFromSymbol_spt");
hipError_t launch_own(const void *, dim3, dim3, void **, size_t, hipStream_t) asm("hipLaunchKernel_spt");
hipError_t launch_cooperative_own(const void *, dim3, dim3, void **, unsigned,
                                  hipStream_t) asm("hipLaunchCooperativeKernel_spt");
hipError_t legacy_configure(dim3, dim3, size_t, hipStream_t) asm("hipConfigureCall");
hipError_t legacy_argument(const void *, size_t, size_t) asm("hipSetupArgument");
hipError_t legacy_launch(const void *) asm("hipLaunchByPtr");
const char *name_by_address(const void *, hipStream_t) asm("hipKernelNameRefByPtr");
}

// Calls that older versions of the linked library may lack.
template <class F> static F *newer(const char *name) {
    void *const found = dlsym(RTLD_DEFAULT, name);
    CHECK(found != nullptr);
    return (F *)found;
}

static void own_stream() {
    const auto to_symbol_async_own =
        newer<hipError_t(const void *, const void *, size_t, size_t, hipMemcpyKind, hipStream_t)>(
            "hipMemcpyToSymbolAsync_spt");
    const auto from_symbol_async_own =
        newer<hipError_t(void *, const void *, size_t, size_t, hipMemcpyKind, hipStream_t)>(
            "hipMemcpyFromSymbolAsync_spt");
    const void *const symbol = (const void *)unused;
    int value = 31, read = 0;
    OK(to_symbol_own(symbol, &value, 4, 4, hipMemcpyHostToDevice));
    OK(from_symbol_own(&read, symbol, 4, 4, hipMemcpyDeviceToHost));
    CHECK(read == 31);
    value = 32;
    OK(to_symbol_async_own(symbol, &value, 4, 8, hipMemcpyHostToDevice, nullptr));
    OK(from_symbol_async_own(&read, symbol, 4, 8, hipMemcpyDeviceToHost, nullptr));
    OK(hipStreamSynchronize(hipStreamPerThread));
    CHECK(read == 32);
    CHECK(to_symbol_own(symbol, &value, 4, 16, hipMemcpyHostToDevice) == hipErrorInvalidValue); // behind its end
    CHECK(from_symbol_own(&read, nullptr, 4, 0, hipMemcpyDeviceToHost) == hipErrorInvalidSymbol);
    void *params[] = {&out};
    const void *const kernel = (const void *)sum_table;
    OK(launch_own(kernel, dim3(1), dim3(32), params, 0, nullptr));
    OK(hipStreamSynchronize(hipStreamPerThread));
    check_sum(32, 1);
    OK(launch_cooperative_own(kernel, dim3(1), dim3(32), params, 0, nullptr));
    OK(hipStreamSynchronize(hipStreamPerThread));
    check_sum(32, 1);
    CHECK(launch_own(nullptr, dim3(1), dim3(32), params, 0, nullptr) == hipErrorInvalidDeviceFunction);
}

static void symbol_nodes() {
    const void *const symbol = (const void *)unused;
    int first = 51, second = 52, read[2] = {};
    hipGraph_t made;
    hipGraphNode_t to, from;
    hipGraphExec_t exec;
    OK(hipGraphCreate(&made, 0));
    OK(hipGraphAddMemcpyNodeToSymbol(&to, made, nullptr, 0, symbol, &first, 4, 0, hipMemcpyHostToDevice));
    OK(hipGraphAddMemcpyNodeFromSymbol(&from, made, &to, 1, &read[0], symbol, 4, 0, hipMemcpyDeviceToHost));
    OK(hipGraphInstantiate(&exec, made, nullptr, nullptr, 0));
    OK(hipGraphLaunch(exec, nullptr));
    OK(hipDeviceSynchronize());
    CHECK(read[0] == 51 && read[1] == 0);
    OK(hipGraphExecMemcpyNodeSetParamsToSymbol(exec, to, symbol, &second, 4, 12, hipMemcpyHostToDevice));
    OK(hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, &read[1], symbol, 4, 12, hipMemcpyDeviceToHost));
    OK(hipGraphLaunch(exec, nullptr));
    OK(hipDeviceSynchronize());
    CHECK(read[0] == 51 && read[1] == 52);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphMemcpyNodeSetParamsToSymbol(to, symbol, &second, 4, 4, hipMemcpyHostToDevice));
    OK(hipGraphMemcpyNodeSetParamsFromSymbol(from, &read[0], symbol, 4, 4, hipMemcpyDeviceToHost));
    OK(hipGraphInstantiate(&exec, made, nullptr, nullptr, 0));
    OK(hipGraphLaunch(exec, nullptr));
    OK(hipDeviceSynchronize());
    CHECK(read[0] == 52);
    CHECK(hipGraphMemcpyNodeSetParamsToSymbol(to, nullptr, &second, 4, 4, hipMemcpyHostToDevice) ==
          hipErrorInvalidSymbol);
    CHECK(hipGraphMemcpyNodeSetParamsFromSymbol(from, &read[0], symbol, 4, 13, hipMemcpyDeviceToHost) ==
          hipErrorInvalidValue);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(made));
}

// As compilers before hipLaunchKernel launched: configure, push the arguments, launch.
static void legacy() {
    const void *const kernel = (const void *)sum_table;
    CHECK(legacy_launch(kernel) == hipErrorMissingConfiguration);
    OK(legacy_configure(dim3(1), dim3(32), 0, nullptr));
    OK(legacy_argument(&out, sizeof out, 0));
    OK(legacy_launch(kernel));
    check_sum(32, 1);
    CHECK(legacy_argument(&out, sizeof out, 0) == hipErrorMissingConfiguration);
    hipFunction_t function = nullptr;
    const auto function_of = newer<hipError_t(hipFunction_t *, const void *)>("hipGetFuncBySymbol");
    OK(function_of(&function, kernel));
    void *params[] = {&out};
    OK(hipModuleLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr));
    check_sum(32, 1);
    CHECK(function_of(&function, &out) == hipErrorInvalidDeviceFunction);
    CHECK(strstr(name_by_address(kernel, nullptr), "sum_table") != nullptr);
    CHECK(name_by_address(&out, nullptr) == nullptr && name_by_address(nullptr, nullptr) == nullptr);
}

int main() {
    OK(hipMalloc((void **)&out, sizeof got));
    symbols();
    managed();
    launches();
    questions();
    graph();
    own_stream();
    symbol_nodes();
    legacy();
    OK(hipFree(out));
    printf("1 passed, 0 failed\n");
    return 0;
}
