// SPDX-License-Identifier: MIT
#include "sim/hip/memory/spares.h"

#include <algorithm>

#include "sim/hip/runtime.h"

namespace nw::hipsim {

static sim::Memory &memory_of(int device) { return runtime().device(device).memory; }
static void *address(const Spare &spare) { return reinterpret_cast<void *>(spare.begin); }

std::shared_ptr<Spare> Spares::add(const Block &freed, const std::shared_ptr<Stream> &stream) {
    const std::lock_guard lock(mutex_);
    auto spare = std::make_shared<Spare>();
    spare->begin = freed.begin;
    spare->bytes = freed.size;
    spare->after.insert(stream);
    spares_.push_back(spare);
    bytes_ += freed.size;
    return spare;
}

void Spares::reached(Spare &spare, const Block &freed, const std::string &by) {
    const std::lock_guard lock(mutex_);
    runtime().sharing.conceal(freed, by);
    memory_of(device_).shelve(address(spare), by);
    spare.free = true;
    if (spare.next) {
        memory_of(device_).renew(address(spare), spare.next->made_by);
        runtime().sharing.reveal(*spare.next);
    } else if (closed_) {
        release(spare);
    }
}

void *Spares::take(Block wanted, const std::shared_ptr<Stream> &stream, bool any_stream) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(spares_, [&](const auto &spare) {
        return spare->bytes == wanted.size &&
               (spare->after.contains(stream) || (any_stream && spare->free));
    });
    if (found == spares_.end())
        return nullptr;
    const std::shared_ptr<Spare> spare = *found;
    spares_.erase(found);
    bytes_ -= spare->bytes;
    wanted.begin = spare->begin;
    if (spare->free) {
        memory_of(device_).renew(address(*spare), wanted.made_by);
        runtime().sharing.publish(std::move(wanted));
    } else { // kernels still use it as what it was
        runtime().blocks.add(wanted);
        spare->next = std::move(wanted);
    }
    return address(*spare);
}

void Spares::order(const std::shared_ptr<Stream> &earlier, const std::shared_ptr<Stream> &later) {
    const std::lock_guard lock(mutex_);
    for (const auto &spare : spares_)
        if (spare->after.contains(earlier))
            spare->after.insert(later);
}

// Called with the mutex held.
void Spares::release(const Spare &spare) {
    memory_of(device_).discard(address(spare));
    bytes_ -= spare.bytes;
}

void Spares::trim(u64 hold) {
    const std::lock_guard lock(mutex_);
    std::erase_if(spares_, [&](const auto &spare) {
        const bool goes = spare->free && bytes_ > hold;
        if (goes)
            release(*spare);
        return goes;
    });
}

void Spares::close() {
    trim(0);
    const std::lock_guard lock(mutex_);
    closed_ = true;
    spares_.clear(); // the rest is released when it is reached
}

} // namespace nw::hipsim
