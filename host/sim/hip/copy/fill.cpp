// SPDX-License-Identifier: MIT
#include "sim/hip/copy/fill.h"

#include <algorithm>

#include "sim/hip/copy/copy.h"
#include "sim/hip/graph/capture.h"
#include "sim/hip/graph/graph_memory.h"

namespace nw::hipsim {

template <class T> static void fill_row(u64 at, u64 count, u32 value) {
    std::fill_n(reinterpret_cast<T *>(at), count, static_cast<T>(value));
}

hipError_t Fill::run() const noexcept {
    if (planned && !runtime().blocks.find(at)) {
        say("a fill accesses memory of a graph that no launch has allocated");
        return hipErrorInvalidValue;
    }
    for (u64 z = 0; z < depth; ++z)
        for (u64 y = 0; y < height; ++y) {
            const u64 row = at + z * slice + y * pitch;
            if (element == 1)
                fill_row<u8>(row, width, value);
            else if (element == 2)
                fill_row<u16>(row, width, value);
            else
                fill_row<u32>(row, width, value);
            tell_copied(row, 0, width * element);
        }
    return hipSuccess;
}

Fill checked_fill(Fill fill) {
    if (fill.empty())
        return fill;
    u64 row = 0, rows = 0, slices = 0, bytes = 0;
    require(!__builtin_mul_overflow(fill.width, u64{fill.element}, &row) &&
                !__builtin_mul_overflow(fill.pitch, fill.height - 1, &rows) &&
                !__builtin_mul_overflow(fill.slice, fill.depth - 1, &slices) &&
                !__builtin_add_overflow(rows, slices, &bytes) &&
                !__builtin_add_overflow(bytes, row, &bytes),
            hipErrorInvalidValue);
    require(fill.height == 1 || row <= fill.pitch, hipErrorInvalidValue);
    require(fill.at % fill.element == 0, hipErrorInvalidValue);
    const u64 left = runtime().blocks.left(fill.at);
    fill.planned = left == 0 && planned_left(fill.at) > 0;
    require(bytes <= (fill.planned ? planned_left(fill.at) : left), hipErrorInvalidValue);
    return fill;
}

hipError_t fill_now(Stream &stream, const Fill &fill) {
    Device &device = runtime().device_of(stream);
    return device.run_now(
        stream, [&] { return run(fill, nullptr); }, commands_of(device, fill));
}

static u64 address_of(const void *pointer) {
    require(pointer != nullptr, hipErrorInvalidValue);
    return reinterpret_cast<u64>(pointer);
}

Fill linear_fill(void *to, u32 element, u32 value, u64 count) {
    if (count == 0)
        return {};
    return checked_fill({.at = address_of(to), .value = value, .element = element, .width = count});
}

Fill rows_fill(void *to, u64 pitch, u32 element, u32 value, u64 width, u64 height) {
    if (width == 0 || height == 0)
        return {};
    return checked_fill({.at = address_of(to),
                         .pitch = pitch,
                         .value = value,
                         .element = element,
                         .width = width,
                         .height = height});
}

Fill box_fill(const hipPitchedPtr &to, u32 value, const hipExtent &extent) {
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0)
        return {};
    u64 slice = 0;
    require(!__builtin_mul_overflow(to.pitch, to.ysize ? to.ysize : extent.height, &slice),
            hipErrorInvalidValue);
    return checked_fill({.at = address_of(to.ptr),
                         .pitch = to.pitch,
                         .slice = slice,
                         .value = value,
                         .width = extent.width,
                         .height = extent.height,
                         .depth = extent.depth});
}

} // namespace nw::hipsim
