// SPDX-License-Identifier: MIT
// The driver API's copies: each side names its kind of memory.
#include "sim/hip/copy/copy.h"
#include "sim/hip/error.h"
#include "sim/hip/texture/array.h"
#include "sim/hip/version.h"

namespace nw::hipsim {

namespace {

// HIP_MEMCPY3D. Number is unsigned up to ROCm 5 and size_t since ROCm 6.
template <class Number> struct DriverBox {
    struct Side {
        Number x, y, z, lod;
        int type; // hipMemoryType
        const void *host, *device;
        void *array;
        Number pitch, height;
    };
    Side from, to;
    Number width, height, depth;
};
static_assert(sizeof(DriverBox<unsigned>) == 128 && sizeof(DriverBox<size_t>) == 184);

} // namespace

// hipMemoryType was renumbered in ROCm 6, too. 0 is then memory that nobody registered.
struct MemoryTypes {
    int host, device, array;
};
static MemoryTypes memory_types() {
    return host_major() == 5 ? MemoryTypes{0, 1, 2} : MemoryTypes{1, 2, 10};
}

// The type says which of the three pointers counts; the others may be anything.
template <class Side> static Copy::Side corner(const Side &side, u64 width, u64 height, u64 depth) {
    const auto [host, device, array] = memory_types();
    const bool other = side.type != host && side.type != device;
    if (side.type == array || (other && side.array)) {
        require(side.array != nullptr, hipErrorInvalidValue);
        return array_of(side.array).corner(side.x, side.y, side.z, width, height, depth);
    }
    const bool by_host = side.type == host || (other && !side.device);
    const auto base = reinterpret_cast<u64>(by_host ? side.host : side.device);
    require(base != 0, hipErrorInvalidValue);
    const u64 pitch = side.pitch ? side.pitch : side.x + width;
    require(side.x <= pitch && width <= pitch - side.x, hipErrorInvalidValue);
    const u64 slice = pitch * (side.height ? side.height : height);
    return {base + side.z * slice + side.y * pitch + side.x, pitch, slice, base};
}

template <class Box> static Copy driver_copy(const Box &box) {
    if (box.width == 0 || box.height == 0 || box.depth == 0)
        return {};
    return box_copy(corner(box.to, box.width, box.height, box.depth),
                    corner(box.from, box.width, box.height, box.depth),
                    {box.width, box.height, box.depth}, hipMemcpyDefault);
}

template <class Box> static Copy driver_copy_of(const void *params) {
    Copy copy = driver_copy(*static_cast<const Box *>(params));
    const auto *const begin = static_cast<const std::byte *>(params);
    copy.driver = std::make_shared<std::vector<std::byte>>(begin, begin + sizeof(Box));
    return copy;
}

Copy driver_box_copy(const HIP_MEMCPY3D *params) {
    require(params != nullptr, hipErrorInvalidValue);
    return host_major() == 5 ? driver_copy_of<DriverBox<unsigned>>(params)
                             : driver_copy_of<DriverBox<size_t>>(params);
}

Copy driver_rows_copy(const hip_Memcpy2D *params) {
    require(params != nullptr, hipErrorInvalidValue);
    const hip_Memcpy2D &p = *params;
    DriverBox<size_t> box{};
    box.from = {p.srcXInBytes, p.srcY,      0,          0,          p.srcMemoryType,
                p.srcHost,     p.srcDevice, p.srcArray, p.srcPitch, 0};
    box.to = {p.dstXInBytes, p.dstY,      0,          0,          p.dstMemoryType,
              p.dstHost,     p.dstDevice, p.dstArray, p.dstPitch, 0};
    box.width = p.WidthInBytes;
    box.height = p.Height;
    box.depth = 1;
    return driver_copy(box);
}

} // namespace nw::hipsim
