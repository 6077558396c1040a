// SPDX-License-Identifier: MIT
// Maps exceptions to the C API's status codes and messages.
#pragma once
#include <exception>

#include "base/error.h"
#include "capi/nibblewave.h"
#include "hip/hip.h"
#include "runtime/contract.h"

namespace nw::api {

// An Error with a status code.
class Refusal : public Error {
public:
    Refusal(nw_status status, const std::string &text) : Error(text), status(status) {}
    nw_status status;
};

// Stores the exception's message for nw_last_error and returns its code.
nw_status keep(const std::exception_ptr &) noexcept;

// Runs a function's body; returns its status code. No exception escapes.
template <class Action> nw_status guarded(const Action &action) noexcept {
    try {
        action();
        return NW_OK;
    } catch (...) {
        return keep(std::current_exception());
    }
}

// action(); its Errors map to `status`, except HIP errors and Refusal, which is always
// NW_INVALID_ARGUMENT.
template <class Action> decltype(auto) meaning(nw_status status, const Action &action) {
    try {
        return action();
    } catch (const hip::Error &) {
        throw;
    } catch (const Refusal &) { // maps to its own code
        throw;
    } catch (const nw::Refusal &refusal) {
        throw Refusal(NW_INVALID_ARGUMENT, refusal.what());
    } catch (const Error &error) {
        throw Refusal(status, error.what());
    }
}

} // namespace nw::api
