// SPDX-License-Identifier: MIT
#include "sim/hip/sharing.h"

#include "sim/hip/pool.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

// A mapping's access is set one by one (virtual_memory.cpp).
bool Sharing::may_touch(int accessor, const Block &block) const {
    switch (block.kind) {
    case Block::Kind::host:
    case Block::Kind::managed:
        return true;
    case Block::Kind::mapped:
        return false;
    case Block::Kind::device:
    case Block::Kind::global:
        break;
    }
    if (accessor == block.device)
        return block.borrowed; // else the device's memory holds it anyway
    return peers_.contains({accessor, block.device}) ||
           (block.pool && block.pool->readable_by(accessor));
}

void Sharing::let(int accessor, const Block &block, bool allowed) const {
    sim::Memory &memory = runtime_.device(accessor).memory;
    void *const at = reinterpret_cast<void *>(block.begin);
    memory.disown(at); // at most once in the list
    if (allowed)
        memory.adopt(at, block.size, block.made_by);
}

void Sharing::publish(Block block) {
    if (block.made_by.empty())
        block.made_by = next_made_by();
    const std::lock_guard lock(mutex_);
    for (int ordinal = 0; ordinal < runtime_.device_count(); ++ordinal)
        if (may_touch(ordinal, block))
            let(ordinal, block, true);
    runtime_.blocks.add(block);
}

bool Sharing::withdraw(const Block &block) {
    if (!runtime_.blocks.remove(block.begin))
        return false;
    conceal(block);
    return true;
}

void Sharing::conceal(const Block &block) {
    const std::lock_guard lock(mutex_);
    for (int ordinal = 0; ordinal < runtime_.device_count(); ++ordinal)
        if (may_touch(ordinal, block))
            let(ordinal, block, false);
}

bool Sharing::peer_enabled(int accessor, int owner) const {
    const std::lock_guard lock(mutex_);
    return peers_.contains({accessor, owner});
}

bool Sharing::enable_peer(int accessor, int owner) {
    const std::lock_guard lock(mutex_);
    if (!peers_.insert({accessor, owner}).second)
        return false;
    for (const Block &block : runtime_.blocks.of_device(owner))
        if (may_touch(accessor, block))
            let(accessor, block, true);
    return true;
}

bool Sharing::disable_peer(int accessor, int owner) {
    const std::lock_guard lock(mutex_);
    if (peers_.erase({accessor, owner}) == 0)
        return false;
    for (const Block &block : runtime_.blocks.of_device(owner))
        if ((block.kind == Block::Kind::device || block.kind == Block::Kind::global) &&
            !may_touch(accessor, block))
            let(accessor, block, false);
    return true;
}

void Sharing::set_access(const Block &block, int accessor, bool allowed) {
    const std::lock_guard lock(mutex_);
    if (accessor != block.device)
        let(accessor, block, allowed || may_touch(accessor, block));
}

} // namespace nw::hipsim
