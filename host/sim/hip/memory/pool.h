// SPDX-License-Identifier: MIT
// Memory pools: hipMallocAsync, usage counters and access rights. Reserved memory is what is used
// and what is spare.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "sim/hip/headers.h"
#include "sim/hip/memory/blocks.h"
#include "sim/hip/memory/spares.h"

namespace nw::hipsim {

class Pool {
public:
    // A pool of another process: it only has allocations which that process exports.
    struct Origin {
        i32 process = 0;
        u64 number = 0;
        bool operator==(const Origin &) const = default;
    };

    Pool(int device, u64 max_bytes, hipMemAllocationHandleType handle_type,
         std::optional<Origin> origin = {})
        : device(device), max_bytes(max_bytes), handle_type(handle_type), origin(origin),
          spares(device) {}

    const int device;
    const u64 max_bytes; // 0: no limit
    const hipMemAllocationHandleType handle_type;
    const std::optional<Origin> origin;
    Spares spares;

    // Memory that other processes may know is released at once.
    bool keeps_spares() const { return handle_type == hipMemHandleTypeNone; }
    // Spare memory of a size, for hipMallocAsync on a stream; null: none.
    void *take_spare(Block wanted, const std::shared_ptr<Stream> &stream);
    // After a wait of the host: what exceeds the release threshold goes.
    void release_spares();

    void took(u64 bytes); // hipErrorOutOfMemory beyond max_bytes
    void gave_back(u64 bytes);
    u64 used() const;
    bool follows_events() const; // for the reuse of spare memory

    bool readable_by(int accessor) const;
    void set_readable(int accessor, bool allowed);

    // As hipMemPoolSetAttribute and hipMemPoolGetAttribute have them.
    void set(hipMemPoolAttr which, const void *value);
    void get(hipMemPoolAttr which, void *value) const;

private:
    int reuse(hipMemPoolAttr which) const; // 0 or 1; called with the mutex held

    mutable std::mutex mutex_;
    std::set<int> readers_;
    std::map<hipMemPoolAttr, int> reuse_;
    u64 release_threshold_ = 0;
    u64 used_ = 0, used_high_ = 0, reserved_high_ = 0;
};

} // namespace nw::hipsim
