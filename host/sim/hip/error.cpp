// SPDX-License-Identifier: MIT
#include "sim/hip/error.h"

#include <cstdio>

#include "sim/hip/version.h"
#include "sim/isa/image/program.h"

namespace nw::hipsim {

void fail(hipError_t code) { throw Failure{code, {}}; }
void fail(hipError_t code, std::string text) { throw Failure{code, std::move(text)}; }

void say(std::string_view text) {
    // One write: lines of several threads and processes don't mix.
    const std::string line = "hipsim: " + std::string(text) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
}

const char *error_name(int code) {
    switch (code) {
#define HIP_ERROR(value, name, text)                                                               \
    case value:                                                                                    \
        return #name;
#include "sim/hip/errors.inc"
#undef HIP_ERROR
    }
    return "hipErrorUnknown";
}

const char *error_string(int code) {
    switch (code) {
#define HIP_ERROR(value, name, text)                                                               \
    case value:                                                                                    \
        return text;
#include "sim/hip/errors.inc"
#undef HIP_ERROR
    }
    return "unknown error";
}

const char *&current_call() {
    thread_local const char *call = "";
    return call;
}

hipError_t &last_error() {
    thread_local hipError_t code = hipSuccess;
    return code;
}

hipError_t &last_command_error() {
    thread_local hipError_t code = hipSuccess;
    return code;
}

hipError_t remember(hipError_t result) {
    last_command_error() = result;
    const bool keeps_failures = host_major() >= 7;
    if (!keeps_failures || (result != hipSuccess && result != hipErrorNotReady))
        last_error() = result;
    return result;
}

hipError_t describe_exception(const char *call) noexcept {
    try {
        try {
            throw;
        } catch (const Failure &failure) {
            if (!failure.text.empty())
                say(std::string(call) + ": " + failure.text);
            return failure.code;
        } catch (const std::bad_alloc &) {
            return hipErrorOutOfMemory;
        } catch (const sim::BadImage &error) {
            say(std::string(call) + ": " + error.what());
            return hipErrorInvalidImage;
        } catch (const std::exception &error) {
            say(std::string(call) + ": " + error.what());
            return hipErrorUnknown;
        }
    } catch (...) {
    }
    return hipErrorUnknown;
}

} // namespace nw::hipsim

using namespace nw::hipsim;

const char *hipGetErrorName(hipError_t code) { return error_name(code); }
const char *hipGetErrorString(hipError_t code) { return error_string(code); }

hipError_t hipGetLastError() { return std::exchange(last_error(), hipSuccess); }
hipError_t hipPeekAtLastError() { return last_error(); }

// Newer than the oldest headers we build with.
extern "C" {

hipError_t hipExtGetLastError() { return std::exchange(last_command_error(), hipSuccess); }

hipError_t hipDrvGetErrorName(hipError_t code, const char **text) {
    return api(__func__, [&] {
        require(text != nullptr, hipErrorInvalidValue);
        *text = error_name(code);
        require(code == hipErrorUnknown || *text != std::string_view("hipErrorUnknown"),
                hipErrorInvalidValue);
    });
}

hipError_t hipDrvGetErrorString(hipError_t code, const char **text) {
    return api(__func__, [&] {
        require(text != nullptr, hipErrorInvalidValue);
        *text = error_string(code);
        require(code == hipErrorUnknown || *text != std::string_view("unknown error"),
                hipErrorInvalidValue);
    });
}
}
