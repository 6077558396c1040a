// SPDX-License-Identifier: MIT
#include "sim/timing/core/port.h"

#include <algorithm>

namespace nw::sim::timing {

Port::Port() : slots_(slot_count, {~0u, 0}) {}

Port::Slot &Port::open(u64 number) {
    Slot &slot = slots_[number % slot_count];
    if (slot.number != static_cast<u32>(number)) {
        slot = {static_cast<u32>(number), 0};
        newest_ = std::max(newest_, number);
    }
    return slot;
}

u64 Port::first_with_room(u64 number) {
    u64 found = number;
    while (open(found).used == slot_ticks)
        found = full_from_ <= found && found < full_to_ ? full_to_ : found + 1;
    full_from_ = full_from_ <= number && number <= full_to_ ? full_from_ : number;
    full_to_ = found;
    return found;
}

u64 Port::reserve(u64 at, u32 work) {
    u64 number = at / slot_ticks;
    if (number + slot_count <= newest_) // too old: those slots are reused
        number = newest_ - slot_count + 1;
    u64 done = at + work, end = done;
    while (work) {
        number = first_with_room(number);
        Slot &slot = slots_[number % slot_count];
        u32 part = std::min<u32>(work, slot_ticks - slot.used);
        slot.used += part;
        work -= part;
        end = number * slot_ticks + slot.used;
    }
    return end > done ? end - done : 0;
}

u64 Queue::enter(u64 at, u32 count) const {
    for (size_t n = next_; count--; n = after(n))
        at = std::max(at, until_[n]);
    return at;
}

void Queue::leave(u64 at, u32 count) {
    for (; count--; next_ = after(next_))
        until_[next_] = at;
}

} // namespace nw::sim::timing
