// SPDX-License-Identifier: MIT
#include "sim/hip/memory/pool.h"

#include <algorithm>

#include "sim/hip/error.h"

namespace nw::hipsim {

void Pool::took(u64 bytes) {
    const u64 spare = spares.bytes();
    const std::lock_guard lock(mutex_);
    require(max_bytes == 0 || bytes <= max_bytes - std::min(max_bytes, used_ + spare),
            hipErrorOutOfMemory);
    used_ += bytes;
    used_high_ = std::max(used_high_, used_);
    reserved_high_ = std::max(reserved_high_, used_ + spare);
}

void *Pool::take_spare(Block wanted, const std::shared_ptr<Stream> &stream) {
    bool any_stream = false;
    {
        const std::lock_guard lock(mutex_);
        any_stream = reuse(hipMemPoolReuseAllowOpportunistic) != 0;
    }
    const u64 bytes = wanted.size;
    void *const at = spares.take(std::move(wanted), stream, any_stream);
    if (at)
        took(bytes);
    return at;
}

void Pool::release_spares() {
    u64 hold = 0;
    {
        const std::lock_guard lock(mutex_);
        hold = release_threshold_;
    }
    spares.trim(hold);
}

int Pool::reuse(hipMemPoolAttr which) const {
    const auto set = reuse_.find(which);
    return set == reuse_.end() ? 1 : set->second;
}

void Pool::gave_back(u64 bytes) {
    const std::lock_guard lock(mutex_);
    used_ -= bytes;
}

bool Pool::follows_events() const {
    const std::lock_guard lock(mutex_);
    return reuse(hipMemPoolReuseFollowEventDependencies) != 0;
}

u64 Pool::used() const {
    const std::lock_guard lock(mutex_);
    return used_;
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
    const u64 spare = spares.bytes();
    const std::lock_guard lock(mutex_);
    const auto reset = [&](u64 &high, u64 now) {
        require(*static_cast<const u64 *>(value) == 0, hipErrorInvalidValue);
        high = now;
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
        return reset(reserved_high_, used_ + spare);
    case hipMemPoolAttrUsedMemHigh:
        return reset(used_high_, used_);
    default: // the current amounts are not for setting
        fail(hipErrorInvalidValue);
    }
}

void Pool::get(hipMemPoolAttr which, void *value) const {
    const u64 spare = spares.bytes();
    const std::lock_guard lock(mutex_);
    const auto give = [&](u64 bytes) { *static_cast<u64 *>(value) = bytes; };
    switch (which) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
        *static_cast<int *>(value) = reuse(which);
        return;
    case hipMemPoolAttrReleaseThreshold:
        return give(release_threshold_);
    case hipMemPoolAttrReservedMemCurrent:
        return give(used_ + spare);
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
