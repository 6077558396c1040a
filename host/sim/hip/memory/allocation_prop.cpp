// SPDX-License-Identifier: MIT
#include "sim/hip/memory/allocation_prop.h"

#include <cstddef>
#include <cstring>

#include "sim/hip/error.h"

namespace nw::hipsim {

namespace {

struct Old { // to HIP 5.2
    unsigned char compression_type;
    int location_type, device;
    int handle_type;
    int type;
    unsigned short usage;
    void *win32;
};

struct New { // from HIP 5.3 to 7.2
    int type;
    int handle_type;
    int location_type, device;
    void *win32;
    unsigned char compression_type, rdma_capable;
    unsigned short usage;
};

static_assert(sizeof(Old) == 32 && offsetof(Old, location_type) == 4 && offsetof(Old, type) == 16);
static_assert(sizeof(New) == 32 && offsetof(New, location_type) == 8 && offsetof(New, win32) == 16);

constexpr int pinned = 1, uncached = 0x40000000; // hipMemAllocationTypeUncached, since HIP 7
constexpr int on_device = 1;                     // hipMemLocationTypeDevice

bool is_type(int type) { return type == pinned || type == uncached; }

} // namespace

AllocationProp read_prop(const hipMemAllocationProp *prop) {
    require(prop != nullptr, hipErrorInvalidValue);
    New now;
    std::memcpy(&now, static_cast<const void *>(prop), sizeof now);
    if (is_type(now.type) && now.location_type == on_device)
        return {now.type, now.handle_type, now.location_type, now.device, false};
    Old old;
    std::memcpy(&old, static_cast<const void *>(prop), sizeof old);
    require(old.compression_type == 0 && old.location_type == on_device && is_type(old.type),
            hipErrorInvalidValue);
    return {old.type, old.handle_type, old.location_type, old.device, true};
}

void write_prop(hipMemAllocationProp *to, const AllocationProp &prop) {
    if (prop.before_5_3) {
        const Old old{0, prop.location_type, prop.device, prop.handle_type, prop.type, 0, nullptr};
        std::memcpy(static_cast<void *>(to), &old, sizeof old);
    } else {
        const New now{prop.type, prop.handle_type, prop.location_type, prop.device, nullptr, 0, 0,
                      0};
        std::memcpy(static_cast<void *>(to), &now, sizeof now);
    }
}

} // namespace nw::hipsim
