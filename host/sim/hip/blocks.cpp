// SPDX-License-Identifier: MIT
#include "sim/hip/blocks.h"

#include <mutex>

namespace nw::hipsim {

void Blocks::add(Block block) {
    const std::unique_lock lock(mutex_);
    block.id = next_id_++;
    by_begin_[block.begin] = block;
}

void Blocks::remove(u64 begin) {
    const std::unique_lock lock(mutex_);
    by_begin_.erase(begin);
}

std::optional<Block> Blocks::find(u64 address) const {
    const std::shared_lock lock(mutex_);
    auto at = by_begin_.upper_bound(address);
    if (at == by_begin_.begin())
        return {};
    const Block &block = (--at)->second;
    if (address - block.begin >= block.size)
        return {};
    return block;
}

} // namespace nw::hipsim
