// SPDX-License-Identifier: MIT
// Copies from and to arrays. Offsets are bytes in a row, and rows.
#include "sim/hip/copy/copy.h"
#include "sim/hip/runtime.h"
#include "sim/hip/texture/array.h"

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
    require(array != nullptr, hipErrorInvalidValue);
    return to_rows(array, x, 0, from, bytes, bytes, 1, kind);
}
Copy from_row(void *to, const void *array, u64 x, u64 bytes, hipMemcpyKind kind) {
    require(array != nullptr, hipErrorInvalidValue);
    return from_rows(to, bytes, array, x, 0, bytes, 1, kind);
}

Copy between(const void *to, u64 to_x, u64 to_y, const void *from, u64 from_x, u64 from_y,
             u64 width, u64 height) {
    const Array &a = array_of(to), &b = array_of(from);
    return box_copy(a.corner(to_x, to_y, 0, width, height, 1),
                    b.corner(from_x, from_y, 0, width, height, 1), {width, height, 1},
                    hipMemcpyDeviceToDevice);
}

// hipMemcpy3DOperand, since HIP 7.1: a box in an array or behind a pointer. Counts elements.
struct BoxSide {
    enum Type : int { pointer = 1, array = 2 };
    int type;
    union {
        struct {
            void *at;
            size_t row_length, layer_height; // 0: as the box has them
            hipMemLocation hint;
        } behind;
        struct {
            void *array;
            size_t x, y, z;
        } inside;
    };
};

// hipMemcpy3DBatchOp
struct BoxOp {
    BoxSide from, to;
    hipExtent extent;
    int order; // in which the source is read: hipMemcpySrcAccessOrder
    unsigned flags;
};
static_assert(sizeof(BoxOp) == 112);

Copy::Side corner(const BoxSide &side, const hipExtent &box, u64 texel) {
    if (side.type == BoxSide::array)
        return array_of(side.inside.array)
            .corner(side.inside.x * texel, side.inside.y, side.inside.z, box.width * texel,
                    box.height, box.depth);
    require(side.type == BoxSide::pointer && side.behind.at, hipErrorInvalidValue);
    const u64 row = side.behind.row_length ? side.behind.row_length : box.width;
    const u64 layer = side.behind.layer_height ? side.behind.layer_height : box.height;
    require(row >= box.width && layer >= box.height, hipErrorInvalidValue);
    return {reinterpret_cast<u64>(side.behind.at), row * texel, row * texel * layer};
}

// The elements are an array's; bytes, where both sides are pointers.
Copy box_of(const BoxOp &op) {
    require(op.flags <= 1 && op.order >= 1 && op.order <= 3, hipErrorInvalidValue);
    u64 texel = 0;
    for (const BoxSide *side : {&op.from, &op.to})
        if (side->type == BoxSide::array) {
            const u64 bytes = array_of(side->inside.array).texel.bytes();
            require(texel == 0 || texel == bytes, hipErrorInvalidValue);
            texel = bytes;
        }
    texel = texel ? texel : 1;
    return box_copy(corner(op.to, op.extent, texel), corner(op.from, op.extent, texel),
                    {op.extent.width * texel, op.extent.height, op.extent.depth}, hipMemcpyDefault);
}

// hipMemcpyToArray and hipMemcpyFromArray: `bytes` of consecutive rows, the last one in part.
template <class Piece>
hipError_t whole_rows(hipStream_t stream, const Array &a, u64 x, u64 y, u64 bytes, Piece piece) {
    u64 done = 0;
    while (done < bytes) {
        const u64 rest = bytes - done;
        const u64 width = x ? std::min(rest, a.row_bytes() - std::min(x, a.row_bytes()))
                            : std::min(rest, a.row_bytes());
        require(width > 0, hipErrorInvalidValue);
        const u64 height = x == 0 ? std::max<u64>(1, rest / a.row_bytes()) : 1;
        if (const hipError_t error = copy_now(stream, piece(done, x, y, width, height)))
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
        return whole_rows(nullptr, a, x, y, bytes,
                          [&](u64 done, u64 at, u64 row, u64 width, u64 height) {
                              return to_rows(array, at, row, static_cast<const char *>(from) + done,
                                             width, width, height, kind);
                          });
    });
}

static hipError_t bytes_of_array(const char *call, hipStream_t stream, void *to, const void *array,
                                 size_t x, size_t y, size_t bytes, hipMemcpyKind kind) {
    return api(call, [&] {
        const Array &a = array_of(array);
        require(to != nullptr, hipErrorInvalidValue);
        return whole_rows(stream, a, x, y, bytes,
                          [&](u64 done, u64 at, u64 row, u64 width, u64 height) {
                              return from_rows(static_cast<char *>(to) + done, width, array, at,
                                               row, width, height, kind);
                          });
    });
}

hipError_t bytes_from_array(void *to, const void *array, size_t x, size_t y, size_t bytes,
                            hipMemcpyKind kind) asm("hipMemcpyFromArray");
hipError_t bytes_from_array(void *to, const void *array, size_t x, size_t y, size_t bytes,
                            hipMemcpyKind kind) {
    return bytes_of_array("hipMemcpyFromArray", nullptr, to, array, x, y, bytes, kind);
}

hipError_t bytes_from_array_own(void *to, const void *array, size_t x, size_t y, size_t bytes,
                                hipMemcpyKind kind) asm("hipMemcpyFromArray_spt");
hipError_t bytes_from_array_own(void *to, const void *array, size_t x, size_t y, size_t bytes,
                                hipMemcpyKind kind) {
    return bytes_of_array("hipMemcpyFromArray_spt", hipStreamPerThread, to, array, x, y, bytes,
                          kind);
}

hipError_t box_batch(size_t count, const BoxOp *ops, size_t *failed, unsigned long long flags,
                     hipStream_t stream) asm("hipMemcpy3DBatchAsync");
hipError_t box_batch(size_t count, const BoxOp *ops, size_t *failed, unsigned long long flags,
                     hipStream_t stream) {
    return api("hipMemcpy3DBatchAsync", [&] {
        runtime().stream(stream);
        require(count > 0 && ops && flags == 0, hipErrorInvalidValue);
        std::vector<Copy> copies;
        for (size_t i = 0; i < count; ++i) {
            if (failed)
                *failed = i;
            copies.push_back(box_of(ops[i]));
        }
        if (failed)
            *failed = ~size_t{0};
        constexpr int during_call = 2; // the caller may change the source after it
        for (size_t i = 0; i < count; ++i)
            if (const hipError_t error = ops[i].order == during_call
                                             ? copy_now(stream, copies[i])
                                             : copy_in_order(stream, copies[i]);
                error != hipSuccess)
                return error;
        return hipSuccess;
    });
}
}
