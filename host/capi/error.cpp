// SPDX-License-Identifier: MIT
#include "capi/error.h"

#include <new>
#include <string>

namespace nw::api {

namespace {

thread_local std::string text;
thread_local const char *message = ""; // text, or a constant where there was no memory for it

nw_status fail(nw_status status, const char *what) noexcept {
    try {
        text = what;
        message = text.c_str();
    } catch (...) {
        message = "out of memory, even for the message of an error";
    }
    return status;
}

} // namespace

nw_status keep(const std::exception_ptr &exception) noexcept {
    try {
        std::rethrow_exception(exception);
    } catch (const Refusal &e) {
        return fail(e.status, e.what());
    } catch (const hip::Error &e) {
        return fail(NW_HIP_ERROR, e.what());
    } catch (const std::bad_alloc &) {
        return fail(NW_OUT_OF_MEMORY, "the host is out of memory");
    } catch (const std::exception &e) {
        return fail(NW_INTERNAL, e.what());
    } catch (...) {
        return fail(NW_INTERNAL, "an exception of an unknown type");
    }
}

} // namespace nw::api

extern "C" {

const char *nw_last_error(void) { return nw::api::message; }

const char *nw_status_name(nw_status status) {
    switch (status) {
#define NW_NAME(name)                                                                              \
    case name:                                                                                     \
        return #name;
        NW_NAME(NW_OK)
        NW_NAME(NW_INVALID_ARGUMENT)
        NW_NAME(NW_UNSUPPORTED)
        NW_NAME(NW_NO_KERNEL_FILES)
        NW_NAME(NW_NOT_PREPARED)
        NW_NAME(NW_HIP_ERROR)
        NW_NAME(NW_OUT_OF_MEMORY)
        NW_NAME(NW_INTERNAL)
#undef NW_NAME
    }
    return "unknown nw_status";
}
}
