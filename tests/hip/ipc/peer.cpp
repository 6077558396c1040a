// SPDX-License-Identifier: MIT
// The other process of test_ipc.cpp: executes the lines of its input, and answers each with a
// line, the name of HIP's result or a value.
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include "hip/ipc/hex.h"

namespace {

using hip_test::hex, hip_test::unhex;

int *memory = nullptr;
hipEvent_t event = nullptr;
hipMemPool_t pool = nullptr;
hipModule_t module = nullptr;

std::string name(hipError_t code) { return hipGetErrorName(code); }

hipError_t launch(const char *kernel, unsigned lanes, void **params) {
    hipFunction_t function = nullptr;
    if (!module)
        if (const hipError_t error =
                hipModuleLoad(&module, NW_BUILD_DIR "/tests/hip/code/basic_gfx1151.hsaco"))
            return error;
    if (const hipError_t error = hipModuleGetFunction(&function, module, kernel))
        return error;
    return hipModuleLaunchKernel(function, 1, 1, 1, lanes, 1, 1, 0, nullptr, params, nullptr);
}

// Adds 1 to `lanes` ints, the first of which is the `first`.
std::string increment(int first, unsigned lanes) {
    int *at = memory + first;
    void *params[] = {&at, nullptr};
    const hipError_t error = launch("increment", lanes, params);
    return name(error ? error : hipDeviceSynchronize());
}

std::string value(int index) {
    int got = 0;
    const hipError_t error = hipMemcpy(&got, memory + index, sizeof got, hipMemcpyDeviceToHost);
    return error ? name(error) : std::to_string(got);
}

std::string make(size_t bytes) {
    hipIpcMemHandle_t handle;
    if (const hipError_t error = hipMalloc(reinterpret_cast<void **>(&memory), bytes))
        return name(error);
    const hipError_t error = hipIpcGetMemHandle(&handle, memory);
    return error ? name(error) : hex(handle);
}

std::string make_event() {
    hipIpcEventHandle_t handle;
    if (const hipError_t error =
            hipEventCreateWithFlags(&event, hipEventDisableTiming | hipEventInterprocess))
        return name(error);
    const hipError_t error = hipIpcGetEventHandle(&handle, event);
    return error ? name(error) : hex(handle);
}

std::string open_again(const std::string &handle) {
    void *second = nullptr;
    const hipError_t error = hipIpcOpenMemHandle(&second, unhex<hipIpcMemHandle_t>(handle),
                                                 hipIpcMemLazyEnablePeerAccess);
    return error ? name(error) : second == memory ? "same" : "other";
}

std::string await_other(const std::string &handle) {
    hipEvent_t other = nullptr;
    if (const hipError_t error = hipIpcOpenEventHandle(&other, unhex<hipIpcEventHandle_t>(handle)))
        return name(error);
    return name(hipStreamWaitEvent(nullptr, other, 0));
}

std::string answer(const std::string &verb, std::istream &rest) {
    std::string text;
    long number = 0, count = 0;
    void **const at = reinterpret_cast<void **>(&memory);
    if (verb == "open")
        return rest >> text, name(hipIpcOpenMemHandle(at, unhex<hipIpcMemHandle_t>(text),
                                                      hipIpcMemLazyEnablePeerAccess));
    if (verb == "open_again")
        return rest >> text, open_again(text);
    if (verb == "close")
        return name(hipIpcCloseMemHandle(memory));
    if (verb == "free")
        return name(hipFree(memory));
    if (verb == "make")
        return rest >> number, make(static_cast<size_t>(number));
    if (verb == "increment")
        return rest >> number >> count,
               increment(static_cast<int>(number), static_cast<unsigned>(count));
    if (verb == "value")
        return rest >> number, value(static_cast<int>(number));
    if (verb == "make_event")
        return make_event();
    if (verb == "open_event")
        return rest >> text, name(hipIpcOpenEventHandle(&event, unhex<hipIpcEventHandle_t>(text)));
    if (verb == "record")
        return name(hipEventRecord(event, nullptr));
    if (verb == "query")
        return name(hipEventQuery(event));
    if (verb == "synchronize")
        return name(hipEventSynchronize(event));
    if (verb == "await")
        return name(hipStreamWaitEvent(nullptr, event, 0));
    if (verb == "await_other")
        return rest >> text, await_other(text);
    if (verb == "open_pool")
        return rest >> number,
               name(hipMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void *>(number),
                                                        hipMemHandleTypePosixFileDescriptor, 0));
    if (verb == "import") {
        rest >> text;
        auto data = unhex<hipMemPoolPtrExportData>(text);
        return name(hipMemPoolImportPointer(at, pool, &data));
    }
    return "what is " + verb + "?";
}

} // namespace

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream rest(line);
        std::string verb;
        rest >> verb;
        std::cout << answer(verb, rest) << std::endl;
    }
}
