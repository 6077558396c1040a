// SPDX-License-Identifier: MIT
// From exceptions inside the runtime to the codes that HIP's callers see.
#pragma once
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "sim/hip/headers.h"

namespace nw::hipsim {

// Becomes the result of the call. A text goes to stderr: HIP's codes alone rarely say what to do.
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
// the last failure until it is asked for.
hipError_t remember(hipError_t result);
hipError_t &last_error();
hipError_t &last_command_error(); // of the call before, whatever HIP's version

// The code for the exception in flight; says its text.
hipError_t describe_exception(const char *call) noexcept;

// Every entry point is one call of this: no exception crosses the ABI. Does not touch the last
// error.
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

// The entry point that this thread is in, for who makes and frees memory; "" outside.
const char *&current_call();

template <class Body> hipError_t api(const char *call, Body &&body) noexcept {
    const char *const outer = std::exchange(current_call(), call);
    const hipError_t result = guarded(call, std::forward<Body>(body));
    current_call() = outer;
    return remember(result);
}

} // namespace nw::hipsim
