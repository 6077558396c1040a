// SPDX-License-Identifier: MIT
// Names, strings, and whose error hipGetLastError is. This program finds the library as .so.6.
#include <cstring>
#include <thread>

#include "hip/common.h"

using namespace hip_test;

extern "C" hipError_t hipExtGetLastError();
extern "C" hipError_t hipDrvGetErrorName(hipError_t code, const char **name);
extern "C" hipError_t hipDrvGetErrorString(hipError_t code, const char **text);

TEST_CASE("every code of AMD's header has its own name and a text") {
    const std::pair<hipError_t, const char *> samples[] = {
        {hipSuccess, "hipSuccess"},
        {hipErrorInvalidValue, "hipErrorInvalidValue"},
        {hipErrorOutOfMemory, "hipErrorOutOfMemory"},
        {hipErrorNoBinaryForGpu, "hipErrorNoBinaryForGpu"},
        {hipErrorInvalidHandle, "hipErrorInvalidHandle"},
        {hipErrorIllegalAddress, "hipErrorIllegalAddress"},
        {hipErrorLaunchFailure, "hipErrorLaunchFailure"},
        {hipErrorGraphExecUpdateFailure, "hipErrorGraphExecUpdateFailure"},
        {hipErrorRuntimeOther, "hipErrorRuntimeOther"},
    };
    for (const auto &[code, name] : samples) {
        CHECK_EQ(std::string(hipGetErrorName(code)), name);
        CHECK_GT(std::strlen(hipGetErrorString(code)), 0);
        CHECK_NE(std::string(hipGetErrorString(code)), "unknown error");
    }
    CHECK_EQ(std::string(hipGetErrorName(static_cast<hipError_t>(4711))), "hipErrorUnknown");
    CHECK_EQ(std::string(hipGetErrorString(static_cast<hipError_t>(4711))), "unknown error");
    CHECK_EQ(std::string(hipGetErrorString(hipErrorInvalidValue)), "invalid argument");
}

TEST_CASE("the driver's forms refuse what has no name") {
    const char *text = nullptr;
    OK(hipDrvGetErrorName(hipErrorNotFound, &text));
    CHECK_EQ(std::string(text), "hipErrorNotFound");
    OK(hipDrvGetErrorString(hipErrorNotFound, &text));
    CHECK_EQ(std::string(text), "named symbol not found");
    FAILS(hipDrvGetErrorName(static_cast<hipError_t>(4711), &text), hipErrorInvalidValue);
    FAILS(hipDrvGetErrorString(hipErrorNotFound, nullptr), hipErrorInvalidValue);
}

TEST_CASE("the last error: peek keeps it, get takes it") {
    static_cast<void>(hipSetDevice(77));
    FAILS(hipPeekAtLastError(), hipErrorInvalidDevice);
    FAILS(hipPeekAtLastError(), hipErrorInvalidDevice);
    FAILS(hipGetLastError(), hipErrorInvalidDevice);
    OK(hipGetLastError());
}

TEST_CASE("HIP 6: the next call's success replaces it") {
    static_cast<void>(hipSetDevice(77));
    OK(hipSetDevice(0));
    OK(hipGetLastError());
    static_cast<void>(hipSetDevice(77));
    FAILS(hipExtGetLastError(), hipErrorInvalidDevice);
}

TEST_CASE("the last error belongs to the thread") {
    static_cast<void>(hipSetDevice(77));
    hipError_t other = hipErrorUnknown;
    std::thread([&] { other = hipGetLastError(); }).join();
    CHECK_EQ(other, hipSuccess);
    FAILS(hipGetLastError(), hipErrorInvalidDevice);
}
