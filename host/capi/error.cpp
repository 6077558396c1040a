// SPDX-License-Identifier: MIT
#include "capi/error.h"

#include <array>
#include <cstring>
#include <new>
#include <string_view>

namespace nw::api {

namespace {

// A caller may ask for the pointer before the call that fails: arguments of one printf have no
// order. So it is the same for every message of a thread.
thread_local std::array<char, 4096> message{};

nw_status fail(nw_status status, std::string_view what) noexcept {
    constexpr std::string_view more = "...";
    const bool cut = what.size() >= message.size();
    size_t size = cut ? message.size() - 1 - more.size() : what.size();
    while (cut && size > 0 && (static_cast<unsigned char>(what[size]) & 0xc0) == 0x80)
        --size; // not within a character of UTF-8
    std::memcpy(message.data(), what.data(), size);
    if (cut)
        std::memcpy(message.data() + size, more.data(), more.size());
    message[size + (cut ? more.size() : 0)] = '\0';
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

const char *nw_last_error(void) { return nw::api::message.data(); }

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
