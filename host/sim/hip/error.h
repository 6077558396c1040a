// SPDX-License-Identifier: MIT
// Converts exceptions inside the runtime to HIP error codes.
#pragma once
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "sim/hip/headers.h"

namespace nw::hipsim {

// Becomes the result of the call. The text goes to stderr: HIP's codes alone rarely explain.
struct Failure {
    hipError_t code;
    std::string text;
};

[[noreturn]] void fail(hipError_t code);
[[noreturn]] void fail(hipError_t code, std::string text);
inline void require(bool ok, hipError_t code) {
    if (!ok)
        fail(code);
}

// One line on stderr: "hipsim: <text>".
void say(std::string_view text);

const char *error_name(int code);
const char *error_string(int code);

// The thread's last error. HIP 5 and 6 keep the result of every call, success included; HIP 7 keeps
// the last failure until it is read.
hipError_t remember(hipError_t result);
hipError_t &last_error();
hipError_t &last_command_error(); // result of the previous call, in every HIP version

// The code for the current exception; prints its text.
hipError_t describe_exception(const char *call) noexcept;

// Wraps every entry point: no exception crosses the ABI. Doesn't change the last error.
template <class Body> hipError_t guarded(const char *call, Body &&body) noexcept {
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
            body();
            return hipSuccess;
        } else {
            return body();
        }
    } catch (...) {
        return describe_exception(call);
    }
}

// Name of this thread's current entry point, as the origin of memory; "" outside.
const char *&current_call();

template <class Body> hipError_t api(const char *call, Body &&body) noexcept {
    const char *const outer = std::exchange(current_call(), call);
    const hipError_t result = guarded(call, std::forward<Body>(body));
    current_call() = outer;
    return remember(result);
}

} // namespace nw::hipsim
