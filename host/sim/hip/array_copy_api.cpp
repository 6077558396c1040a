// SPDX-License-Identifier: MIT
// Copies from and to arrays. Offsets are bytes in a row, and rows.
#include "sim/hip/array.h"
#include "sim/hip/copy.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

namespace {

Copy::Side rows_at(const void *at, u64 pitch, u64 width, u64 height) {
    require(at != nullptr, hipErrorInvalidValue);
    require(height <= 1 || width <= pitch, hipErrorInvalidPitchValue);
    return {reinterpret_cast<u64>(at), pitch, 0};
}

Copy to_rows(const void *array, u64 x, u64 y, const void *from, u64 pitch, u64 width, u64 height,
             hipMemcpyKind kind) {
    const Array &a = array_of(array);
    if (width == 0 || height == 0)
        return {};
    return box_copy(a.corner(x, y, 0, width, height, 1), rows_at(from, pitch, width, height),
                    {width, height, 1}, kind);
}

Copy from_rows(void *to, u64 pitch, const void *array, u64 x, u64 y, u64 width, u64 height,
               hipMemcpyKind kind) {
    const Array &a = array_of(array);
    if (width == 0 || height == 0)
        return {};
    return box_copy(rows_at(to, pitch, width, height), a.corner(x, y, 0, width, height, 1),
                    {width, height, 1}, kind);
}

// Within one row, as CUDA's driver API has it.
Copy to_row(const void *array, u64 x, const void *from, u64 bytes, hipMemcpyKind kind) {
    return to_rows(array, x, 0, from, bytes, bytes, 1, kind);
}
Copy from_row(void *to, const void *array, u64 x, u64 bytes, hipMemcpyKind kind) {
    return from_rows(to, bytes, array, x, 0, bytes, 1, kind);
}

Copy between(const void *to, u64 to_x, u64 to_y, const void *from, u64 from_x, u64 from_y,
             u64 width, u64 height) {
    const Array &a = array_of(to), &b = array_of(from);
    return box_copy(a.corner(to_x, to_y, 0, width, height, 1),
                    b.corner(from_x, from_y, 0, width, height, 1), {width, height, 1},
                    hipMemcpyDeviceToDevice);
}

// hipMemcpyToArray and hipMemcpyFromArray: `bytes` of consecutive rows, the last one in part.
template <class Piece> hipError_t whole_rows(const Array &a, u64 x, u64 y, u64 bytes, Piece piece) {
    u64 done = 0;
    while (done < bytes) {
        const u64 rest = bytes - done;
        const u64 width = x ? std::min(rest, a.row_bytes() - std::min(x, a.row_bytes()))
                            : std::min(rest, a.row_bytes());
        require(width > 0, hipErrorInvalidValue);
        const u64 height = x == 0 ? std::max<u64>(1, rest / a.row_bytes()) : 1;
        if (const hipError_t error = copy_now(nullptr, piece(done, x, y, width, height)))
            return error;
        done += width * height;
        y += height;
        x = 0;
    }
    return hipSuccess;
}

template <class Make> hipError_t now(const char *call, hipStream_t stream, Make &&make) {
    return api(call, [&] {
        runtime();
        return copy_now(stream, make());
    });
}
template <class Make> hipError_t later(const char *call, hipStream_t stream, Make &&make) {
    return api(call, [&] {
        runtime().stream(stream);
        return copy_in_order(stream, make());
    });
}

hipStream_t own(hipStream_t stream) { return stream ? stream : hipStreamPerThread; }

} // namespace

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

// By asm names: what is const differs between the headers. hipX_spt is hipX on the thread's stream.
#define ARRAY_COPY(name, how, stream, params, ...)                                                 \
    hipError_t name##_array params asm(#name);                                                     \
    hipError_t name##_array params {                                                               \
        return how(#name, stream, [&] { return __VA_ARGS__; });                                    \
    }

extern "C" {
// clang-format off
#define TO_ROWS (void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, hipMemcpyKind kind)
#define TO_ROWS_LATER (void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, hipMemcpyKind kind, hipStream_t s)
ARRAY_COPY(hipMemcpy2DToArray, now, nullptr, TO_ROWS, to_rows(array, x, y, from, pitch, width, height, kind))
ARRAY_COPY(hipMemcpy2DToArray_spt, now, hipStreamPerThread, TO_ROWS, to_rows(array, x, y, from, pitch, width, height, kind))
ARRAY_COPY(hipMemcpy2DToArrayAsync, later, s, TO_ROWS_LATER, to_rows(array, x, y, from, pitch, width, height, kind))
ARRAY_COPY(hipMemcpy2DToArrayAsync_spt, later, own(s), TO_ROWS_LATER, to_rows(array, x, y, from, pitch, width, height, kind))
#define FROM_ROWS (void *to, size_t pitch, const void *array, size_t x, size_t y, size_t width, size_t height, hipMemcpyKind kind)
#define FROM_ROWS_LATER (void *to, size_t pitch, const void *array, size_t x, size_t y, size_t width, size_t height, hipMemcpyKind kind, hipStream_t s)
ARRAY_COPY(hipMemcpy2DFromArray, now, nullptr, FROM_ROWS, from_rows(to, pitch, array, x, y, width, height, kind))
ARRAY_COPY(hipMemcpy2DFromArray_spt, now, hipStreamPerThread, FROM_ROWS, from_rows(to, pitch, array, x, y, width, height, kind))
ARRAY_COPY(hipMemcpy2DFromArrayAsync, later, s, FROM_ROWS_LATER, from_rows(to, pitch, array, x, y, width, height, kind))
ARRAY_COPY(hipMemcpy2DFromArrayAsync_spt, later, own(s), FROM_ROWS_LATER, from_rows(to, pitch, array, x, y, width, height, kind))
ARRAY_COPY(hipMemcpy2DArrayToArray, now, nullptr,
           (void *to, size_t to_x, size_t to_y, const void *from, size_t from_x, size_t from_y, size_t width, size_t height, hipMemcpyKind),
           between(to, to_x, to_y, from, from_x, from_y, width, height))
ARRAY_COPY(hipMemcpyHtoA, now, nullptr, (void *array, size_t x, const void *from, size_t bytes), to_row(array, x, from, bytes, hipMemcpyHostToDevice))
ARRAY_COPY(hipMemcpyHtoAAsync, later, s, (void *array, size_t x, const void *from, size_t bytes, hipStream_t s), to_row(array, x, from, bytes, hipMemcpyHostToDevice))
ARRAY_COPY(hipMemcpyDtoA, now, nullptr, (void *array, size_t x, hipDeviceptr_t from, size_t bytes), to_row(array, x, from, bytes, hipMemcpyDeviceToDevice))
ARRAY_COPY(hipMemcpyAtoH, now, nullptr, (void *to, const void *array, size_t x, size_t bytes), from_row(to, array, x, bytes, hipMemcpyDeviceToHost))
ARRAY_COPY(hipMemcpyAtoHAsync, later, s, (void *to, const void *array, size_t x, size_t bytes, hipStream_t s), from_row(to, array, x, bytes, hipMemcpyDeviceToHost))
ARRAY_COPY(hipMemcpyAtoD, now, nullptr, (hipDeviceptr_t to, const void *array, size_t x, size_t bytes), from_row(to, array, x, bytes, hipMemcpyDeviceToDevice))
ARRAY_COPY(hipMemcpyAtoA, now, nullptr, (void *to, size_t to_x, const void *from, size_t from_x, size_t bytes), between(to, to_x, 0, from, from_x, 0, bytes, 1))
// clang-format on

hipError_t bytes_to_array(void *array, size_t x, size_t y, const void *from, size_t bytes,
                          hipMemcpyKind kind) asm("hipMemcpyToArray");
hipError_t bytes_to_array(void *array, size_t x, size_t y, const void *from, size_t bytes,
                          hipMemcpyKind kind) {
    return api("hipMemcpyToArray", [&] {
        const Array &a = array_of(array);
        require(from != nullptr, hipErrorInvalidValue);
        return whole_rows(a, x, y, bytes, [&](u64 done, u64 at, u64 row, u64 width, u64 height) {
            return to_rows(array, at, row, static_cast<const char *>(from) + done, width, width,
                           height, kind);
        });
    });
}

hipError_t bytes_from_array(void *to, const void *array, size_t x, size_t y, size_t bytes,
                            hipMemcpyKind kind) asm("hipMemcpyFromArray");
hipError_t bytes_from_array(void *to, const void *array, size_t x, size_t y, size_t bytes,
                            hipMemcpyKind kind) {
    return api("hipMemcpyFromArray", [&] {
        const Array &a = array_of(array);
        require(to != nullptr, hipErrorInvalidValue);
        return whole_rows(a, x, y, bytes, [&](u64 done, u64 at, u64 row, u64 width, u64 height) {
            return from_rows(static_cast<char *>(to) + done, width, array, at, row, width, height,
                             kind);
        });
    });
}
}
