// SPDX-License-Identifier: MIT
// Memory pools: hipMallocAsync, usage counters and access rights.
//
// A pool releases freed memory at once instead of caching it, so that a use after free is detected.
// Reserved therefore equals used.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "sim/hip/headers.h"
#include "sim/hip/memory/blocks.h"

namespace nw::hipsim {

class Pool {
public:
    // Of another process: it only has what that process exports of it.
    struct Origin {
        i32 process = 0;
        u64 number = 0;
        bool operator==(const Origin &) const = default;
    };

    Pool(int device, u64 max_bytes, hipMemAllocationHandleType handle_type,
         std::optional<Origin> origin = {})
        : device(device), max_bytes(max_bytes), handle_type(handle_type), origin(origin) {}

    const int device;
    const u64 max_bytes; // 0: no limit
    const hipMemAllocationHandleType handle_type;
    const std::optional<Origin> origin;

    void took(u64 bytes); // hipErrorOutOfMemory beyond max_bytes
    void gave_back(u64 bytes);

    bool readable_by(int accessor) const;
    void set_readable(int accessor, bool allowed);

    // As hipMemPoolSetAttribute and hipMemPoolGetAttribute have them.
    void set(hipMemPoolAttr which, const void *value);
    void get(hipMemPoolAttr which, void *value) const;

private:
    mutable std::mutex mutex_;
    std::set<int> readers_;
    std::map<hipMemPoolAttr, int> reuse_; // stored for queries: memory is never reused
    u64 release_threshold_ = 0;
    u64 used_ = 0, used_high_ = 0, reserved_high_ = 0;
};

} // namespace nw::hipsim
