// SPDX-License-Identifier: MIT
#include "sim/hip/memory/sharing.h"

#include "sim/hip/memory/pool.h"
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

void Sharing::let(Device &accessor, const Block &block, bool allowed, const std::string &by) {
    sim::Memory &memory = accessor.memory;
    void *const at = reinterpret_cast<void *>(block.begin);
    memory.disown(at, by); // at most once in the list
    if (allowed)
        memory.adopt(at, block.size, block.made_by,
                     block.kind == Block::Kind::host || block.kind == Block::Kind::managed);
}

void Sharing::publish(Block block) {
    if (block.made_by.empty())
        block.made_by = next_made_by();
    const std::lock_guard lock(mutex_);
    reveal(block);
    runtime_.blocks.add(block);
}

void Sharing::reveal(const Block &block) {
    const std::lock_guard lock(mutex_);
    for (const auto &device : runtime_.devices())
        if (may_touch(device->ordinal, block))
            let(*device, block, true);
}

void Sharing::introduce(std::shared_ptr<Device> device) {
    const std::lock_guard lock(mutex_);
    for (const Block &block : runtime_.blocks.of_host())
        if (may_touch(device->ordinal, block))
            let(*device, block, true);
    runtime_.add(std::move(device));
}

bool Sharing::withdraw(const Block &block) {
    if (!runtime_.blocks.remove(block.begin))
        return false;
    conceal(block);
    return true;
}

void Sharing::conceal(const Block &block, const std::string &by) {
    const std::lock_guard lock(mutex_);
    for (const auto &device : runtime_.devices())
        if (may_touch(device->ordinal, block))
            let(*device, block, false, by);
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
            let(runtime_.device(accessor), block, true);
    return true;
}

bool Sharing::disable_peer(int accessor, int owner) {
    const std::lock_guard lock(mutex_);
    if (peers_.erase({accessor, owner}) == 0)
        return false;
    for (const Block &block : runtime_.blocks.of_device(owner))
        if ((block.kind == Block::Kind::device || block.kind == Block::Kind::global) &&
            !may_touch(accessor, block))
            let(runtime_.device(accessor), block, false);
    return true;
}

void Sharing::set_access(const Block &block, int accessor, bool allowed) {
    const std::lock_guard lock(mutex_);
    if (accessor != block.device)
        let(runtime_.device(accessor), block, allowed || may_touch(accessor, block));
}

} // namespace nw::hipsim
