// SPDX-License-Identifier: MIT
#include "sim/hip/memory/pool.h"

#include <algorithm>

#include "sim/hip/error.h"

namespace nw::hipsim {

void Pool::took(u64 bytes) {
    const std::lock_guard lock(mutex_);
    require(max_bytes == 0 || bytes <= max_bytes - std::min(max_bytes, used_), hipErrorOutOfMemory);
    used_ += bytes;
    used_high_ = std::max(used_high_, used_);
    reserved_high_ = std::max(reserved_high_, used_);
}

void Pool::gave_back(u64 bytes) {
    const std::lock_guard lock(mutex_);
    used_ -= bytes;
}

bool Pool::readable_by(int accessor) const {
    const std::lock_guard lock(mutex_);
    return readers_.contains(accessor);
}

void Pool::set_readable(int accessor, bool allowed) {
    const std::lock_guard lock(mutex_);
    if (allowed)
        readers_.insert(accessor);
    else
        readers_.erase(accessor);
}

void Pool::set(hipMemPoolAttr which, const void *value) {
    const std::lock_guard lock(mutex_);
    const auto reset = [&](u64 &high) {
        require(*static_cast<const u64 *>(value) == 0, hipErrorInvalidValue);
        high = used_;
    };
    switch (which) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
        reuse_[which] = *static_cast<const int *>(value);
        return;
    case hipMemPoolAttrReleaseThreshold:
        release_threshold_ = *static_cast<const u64 *>(value);
        return;
    case hipMemPoolAttrReservedMemHigh:
        return reset(reserved_high_);
    case hipMemPoolAttrUsedMemHigh:
        return reset(used_high_);
    default: // the current amounts are not for setting
        fail(hipErrorInvalidValue);
    }
}

void Pool::get(hipMemPoolAttr which, void *value) const {
    const std::lock_guard lock(mutex_);
    const auto give = [&](u64 bytes) { *static_cast<u64 *>(value) = bytes; };
    switch (which) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies: {
        const auto set = reuse_.find(which);
        *static_cast<int *>(value) = set == reuse_.end() ? 1 : set->second;
        return;
    }
    case hipMemPoolAttrReleaseThreshold:
        return give(release_threshold_);
    case hipMemPoolAttrReservedMemCurrent:
    case hipMemPoolAttrUsedMemCurrent:
        return give(used_);
    case hipMemPoolAttrReservedMemHigh:
        return give(reserved_high_);
    case hipMemPoolAttrUsedMemHigh:
        return give(used_high_);
    default:
        fail(hipErrorInvalidValue);
    }
}

} // namespace nw::hipsim
