// SPDX-License-Identifier: MIT
#include "sim/hip/copy/copy.h"

#include <algorithm>
#include <cstring>

#include "sim/hip/copy/host_copy.h"
#include "sim/hip/graph/capture.h"
#include "sim/hip/graph/graph_memory.h"
#include "sim/hip/texture/array.h"

namespace nw::hipsim {

// ---- running

// The device whose memory it is; null: none's.
static Device *device_at(u64 address) {
    const auto block = runtime().blocks.find(address);
    const bool on_device = block && block->kind != Block::Kind::host;
    return on_device && runtime().has_device(block->device) ? &runtime().device(block->device)
                                                            : nullptr;
}

static bool copy_from_pageable(Device *device, void *to, const void *from, u64 bytes) {
    if (!device || !device->faults.wants_staged(bytes))
        return copy_from_caller(to, from, bytes);
    std::vector<std::byte> staged(bytes);
    if (!copy_from_caller(staged.data(), from, bytes))
        return false;
    device->faults.stage(to, staged);
    return true;
}

static bool copy_row(u64 to, bool to_known, u64 from, bool from_known, u64 bytes) {
    void *const target = reinterpret_cast<void *>(to);
    const void *const source = reinterpret_cast<const void *>(from);
    if (!to_known)
        return from_known ? copy_to_caller(target, source, bytes)
                          : copy_from_caller(target, source, bytes);
    Device *const device = device_at(to);
    if (device && device->faults.delays_uploads() && !device_at(from))
        device->faults.will_upload(target, bytes);
    if (!from_known)
        return copy_from_pageable(device, target, source, bytes);
    std::memmove(target, source, bytes);
    return true;
}

static bool is_there(const Copy::Side &side) {
    if (side.planned && !runtime().blocks.find(side.at)) {
        say("a copy accesses memory of a graph that no launch has allocated");
        return false;
    }
    return true;
}

static bool is_watched(const Device *device) { return device && device->memory.watches_writes(); }

void tell_copied(u64 to, u64 from, u64 bytes) {
    if (Device *const device = device_at(to); is_watched(device)) {
        Device *const source = device_at(from);
        device->memory.copied(to, source ? &source->memory : nullptr, from, bytes);
    }
}

hipError_t Copy::run() const noexcept {
    if (!is_there(to) || !is_there(from))
        return hipErrorInvalidValue;
    // Rows without padding are merged into one: overlapping linear copies are then correct, too.
    const bool dense = depth == 1 && to.pitch == width && from.pitch == width;
    const u64 row = dense ? width * height : width, rows = dense ? 1 : height;
    const bool watched = is_watched(device_at(to.at)); // once, not for each row
    for (u64 z = 0; z < depth; ++z)
        for (u64 y = 0; y < rows; ++y) {
            const u64 target = to.at + z * to.slice + y * to.pitch;
            const u64 source = from.at + z * from.slice + y * from.pitch;
            if (!copy_row(target, to.known, source, from.known, row)) {
                say("a copy accesses unmapped host memory");
                return hipErrorInvalidValue;
            }
            if (watched)
                tell_copied(target, source, row);
        }
    return hipSuccess;
}

// ---- checks

static void check_kind(hipMemcpyKind kind) {
    constexpr int without_cu = 1024; // hipMemcpyDeviceToDeviceNoCU, since HIP 6
    require((kind >= hipMemcpyHostToHost && kind <= hipMemcpyDefault) || kind == without_cu,
            hipErrorInvalidMemcpyDirection);
}

// Size of a side from its first to its last byte; hipErrorInvalidValue on overflow.
static u64 extent_of(const Copy::Side &side, const Copy &copy) {
    u64 rows = 0, slices = 0, bytes = 0;
    require(!__builtin_mul_overflow(side.pitch, copy.height - 1, &rows) &&
                !__builtin_mul_overflow(side.slice, copy.depth - 1, &slices) &&
                !__builtin_add_overflow(rows, slices, &bytes) &&
                !__builtin_add_overflow(bytes, copy.width, &bytes),
            hipErrorInvalidValue);
    return bytes;
}

static void check_side(Copy::Side &side, const Copy &copy) {
    require(side.at != 0, hipErrorInvalidValue);
    const u64 base = side.base ? side.base : side.at, offset = side.at - base;
    const u64 bytes = extent_of(side, copy);
    require(side.at >= base && side.at <= UINT64_MAX - bytes, hipErrorInvalidValue);
    const Blocks &blocks = runtime().blocks;
    side.known = blocks.find(base).has_value();
    const u64 planned = side.known ? 0 : planned_left(base);
    side.planned = planned > 0;
    side.known |= side.planned;
    require(!side.known || offset + bytes <= std::max(planned, blocks.left(base)),
            hipErrorInvalidValue);
}

static Copy checked(Copy copy, hipMemcpyKind kind) {
    if (copy.empty())
        return copy;
    check_side(copy.to, copy);
    check_side(copy.from, copy);
    // Both unknown: a device pointer that was freed or never valid.
    require(copy.to.known || copy.from.known || kind == hipMemcpyHostToHost ||
                kind == hipMemcpyDefault,
            hipErrorInvalidValue);
    return copy;
}

// ---- shapes

static hipPitchedPtr pitched(u64 at, u64 pitch, u64 width, u64 height) {
    return {reinterpret_cast<void *>(at), pitch, width, height};
}

Copy box_copy(Copy::Side to, Copy::Side from, hipExtent extent, hipMemcpyKind kind) {
    Copy copy{to, from, extent.width, extent.height, extent.depth};
    copy.params.dstPtr = pitched(to.at, to.pitch, extent.width, extent.height);
    copy.params.srcPtr = pitched(from.at, from.pitch, extent.width, extent.height);
    copy.params.extent = extent;
    copy.params.kind = kind;
    return checked(copy, kind);
}

static u64 address(const void *pointer) { return reinterpret_cast<u64>(pointer); }

Copy linear_copy(void *to, const void *from, u64 bytes, hipMemcpyKind kind) {
    if (bytes > 0) {
        require(to && from, hipErrorInvalidValue);
        check_kind(kind);
    }
    return box_copy({address(to), bytes, bytes}, {address(from), bytes, bytes}, {bytes, 1, 1},
                    kind);
}

Copy rows_copy(void *to, u64 to_pitch, const void *from, u64 from_pitch, u64 width, u64 height,
               hipMemcpyKind kind) {
    if (width > 0 && height > 0) {
        require(to && from, hipErrorInvalidValue);
        require(width <= to_pitch && width <= from_pitch, hipErrorInvalidPitchValue);
        check_kind(kind);
    }
    return box_copy({address(to), to_pitch, 0}, {address(from), from_pitch, 0}, {width, height, 1},
                    kind);
}

static Copy::Side corner(const hipPitchedPtr &base, const hipPos &pos, const hipExtent &extent) {
    require(extent.width <= base.pitch, hipErrorInvalidPitchValue);
    require(pos.x <= base.pitch - extent.width, hipErrorInvalidValue);
    const u64 rows = base.ysize ? base.ysize : extent.height;
    const u64 slice = base.pitch * rows;
    const u64 begin = address(base.ptr);
    return {begin + pos.z * slice + pos.y * base.pitch + pos.x, base.pitch, slice, begin};
}

// Bytes of what a box's width and an array's x count: elements if an array takes part.
static u64 unit_of(const hipMemcpy3DParms &params) {
    const u64 to = params.dstArray ? array_of(params.dstArray).texel.bytes() : 0;
    const u64 from = params.srcArray ? array_of(params.srcArray).texel.bytes() : 0;
    require(!to || !from || to == from, hipErrorInvalidValue);
    return to ? to : from ? from : 1;
}

// Positions in memory count bytes.
static Copy::Side corner(const void *array, const hipPitchedPtr &base, const hipPos &pos,
                         const hipExtent &bytes, u64 unit) {
    if (!array) {
        require(base.ptr != nullptr, hipErrorInvalidValue);
        return corner(base, pos, bytes);
    }
    require(!base.ptr, hipErrorInvalidValue); // one of the two
    return array_of(array).corner(pos.x * unit, pos.y, pos.z, bytes.width, bytes.height,
                                  bytes.depth);
}

Copy box_copy(const hipMemcpy3DParms &params) {
    hipExtent extent = params.extent;
    Copy copy;
    if (extent.width > 0 && extent.height > 0 && extent.depth > 0) {
        check_kind(params.kind);
        const u64 unit = unit_of(params);
        require(extent.width <= UINT64_MAX / unit && params.dstPos.x <= UINT64_MAX / unit &&
                    params.srcPos.x <= UINT64_MAX / unit,
                hipErrorInvalidValue);
        extent.width *= unit;
        copy = checked({corner(params.dstArray, params.dstPtr, params.dstPos, extent, unit),
                        corner(params.srcArray, params.srcPtr, params.srcPos, extent, unit),
                        extent.width, extent.height, extent.depth},
                       params.kind);
    }
    copy.params = params;
    return copy;
}

// ---- in order

static hipError_t run_copy(Stream &stream, const Copy &copy) {
    Device &device = runtime().device_of(stream);
    return device.run_now(
        stream, [&] { return run(copy, nullptr); }, commands_of(device, copy));
}

bool stays_on_device(u64 address) {
    const auto block = runtime().blocks.find(address);
    return block && block->kind == Block::Kind::device && !block->synchronous;
}

hipError_t copy_now(hipStream_t handle, const Copy &copy) {
    const auto stream = runtime().stream(handle);
    forbid_synchronous_in_capture();
    if (copy.empty())
        return hipSuccess;
    if (stays_on_device(copy.to.at) && stays_on_device(copy.from.at) &&
        !runtime().device_of(*stream).idle(*stream)) {
        enqueue(stream, copy);
        return hipSuccess;
    }
    const hipError_t result = run_copy(*stream, copy);
    runtime().device_of(*stream).faults.synchronized();
    return result;
}

// The same out of a copy of its source, made now.
static hipError_t enqueue_staged(const std::shared_ptr<Stream> &stream, Copy copy) {
    auto staging = std::make_shared<std::vector<std::byte>>(copy.width * copy.height * copy.depth);
    Copy::Side taken;
    taken.at = reinterpret_cast<u64>(staging->data());
    taken.pitch = copy.width;
    taken.slice = copy.width * copy.height;
    taken.known = true;
    Copy first = copy;
    first.to = taken;
    if (const hipError_t result = first.run(); result != hipSuccess)
        return result;
    copy.from = taken;
    copy.staging = std::move(staging);
    enqueue(stream, copy);
    return hipSuccess;
}

// Pageable memory is copied before the call returns, as on real ROCm: the caller may reuse it. For
// rows that go to the device the stream isn't waited for.
hipError_t copy_in_order(hipStream_t handle, const Copy &copy) {
    const auto stream = runtime().stream(handle);
    if (copy.empty())
        return hipSuccess;
    if (copy.pageable() && !capturing(*stream)) {
        const bool rows = copy.height * copy.depth > 1, uploads = copy.to.known && !copy.from.known;
        if (rows && uploads && !runtime().device_of(*stream).idle(*stream))
            return enqueue_staged(stream, copy);
        return run_copy(*stream, copy);
    }
    enqueue(stream, copy);
    return hipSuccess;
}

} // namespace nw::hipsim
