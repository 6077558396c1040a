// SPDX-License-Identifier: MIT
// From exceptions to the codes and messages of the C API.
#pragma once
#include <exception>

#include "base/error.h"
#include "capi/nibblewave.h"
#include "hip/hip.h"
#include "runtime/contract.h"

namespace nw::api {

// An Error whose code is known.
class Refusal : public Error {
public:
    Refusal(nw_status status, const std::string &text) : Error(text), status(status) {}
    nw_status status;
};

// Keeps the message of the exception for nw_last_error, and gives its code.
nw_status keep(const std::exception_ptr &) noexcept;

// The code of a call whose body is `action`: nothing leaves the library but this.
template <class Action> nw_status guarded(const Action &action) noexcept {
    try {
        action();
        return NW_OK;
    } catch (...) {
        return keep(std::current_exception());
    }
}

// action(), whose Errors other than HIP's mean `status`; a broken rule of a contract is always an
// invalid argument.
template <class Action> decltype(auto) meaning(nw_status status, const Action &action) {
    try {
        return action();
    } catch (const hip::Error &) {
        throw;
    } catch (const Refusal &) { // has its code
        throw;
    } catch (const nw::Refusal &refusal) {
        throw Refusal(NW_INVALID_ARGUMENT, refusal.what());
    } catch (const Error &error) {
        throw Refusal(status, error.what());
    }
}

} // namespace nw::api
