// SPDX-License-Identifier: MIT
// Device variables by the address of their host shadow.
#include "sim/hip/module/symbols.h"

#include "sim/hip/module/fatbin.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

// Where `offset` bytes into the variable are, with room for `bytes`.
static void *place_in(const void *symbol, u64 bytes, u64 offset) {
    const sim::Global global = compiled_variable(symbol);
    require(offset <= global.size && bytes <= global.size - offset, hipErrorInvalidValue);
    return reinterpret_cast<void *>(global.address + offset);
}

Copy copy_to_symbol(const void *symbol, const void *from, u64 bytes, u64 offset,
                    hipMemcpyKind kind) {
    void *const to = place_in(symbol, bytes, offset);
    require(kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice ||
                kind == hipMemcpyDefault,
            hipErrorInvalidMemcpyDirection);
    return linear_copy(to, from, bytes, kind);
}

Copy copy_from_symbol(void *to, const void *symbol, u64 bytes, u64 offset, hipMemcpyKind kind) {
    const void *const from = place_in(symbol, bytes, offset);
    require(kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice ||
                kind == hipMemcpyDefault,
            hipErrorInvalidMemcpyDirection);
    return linear_copy(to, from, bytes, kind);
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t hipGetSymbolAddress(void **address, const void *symbol) {
    return api(__func__, [&] {
        runtime();
        require(address != nullptr, hipErrorInvalidValue);
        *address = reinterpret_cast<void *>(compiled_variable(symbol).address);
    });
}

hipError_t hipGetSymbolSize(size_t *bytes, const void *symbol) {
    return api(__func__, [&] {
        runtime();
        require(bytes != nullptr, hipErrorInvalidValue);
        *bytes = compiled_variable(symbol).size;
    });
}

hipError_t hipMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                             hipMemcpyKind kind) {
    return api(__func__, [&] {
        return copy_now(nullptr, copy_to_symbol(symbol, from, bytes, offset, kind));
    });
}

hipError_t hipMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                  hipMemcpyKind kind, hipStream_t stream) {
    return api(__func__, [&] {
        return copy_in_order(stream, copy_to_symbol(symbol, from, bytes, offset, kind));
    });
}

hipError_t hipMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                               hipMemcpyKind kind) {
    return api(__func__, [&] {
        return copy_now(nullptr, copy_from_symbol(to, symbol, bytes, offset, kind));
    });
}

hipError_t hipMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                    hipMemcpyKind kind, hipStream_t stream) {
    return api(__func__, [&] {
        return copy_in_order(stream, copy_from_symbol(to, symbol, bytes, offset, kind));
    });
}
}
