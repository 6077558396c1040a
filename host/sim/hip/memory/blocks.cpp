// SPDX-License-Identifier: MIT
#include "sim/hip/memory/blocks.h"

#include <mutex>

#include "sim/hip/error.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

std::string next_made_by() {
    static std::mutex &mutex = *new std::mutex;
    static auto &made = *new std::map<std::string, u64>;
    const std::string call = *current_call() ? current_call() : "the runtime";
    std::string name;
    {
        const std::lock_guard lock(mutex);
        name = call + " #" + std::to_string(++made[call]);
    }
    if (Runtime *runtime = Runtime::if_running(); runtime && runtime->findings.wanted())
        runtime->findings.made(name);
    return name;
}

void Blocks::add(Block block) {
    const std::unique_lock lock(mutex_);
    block.id = next_id_++;
    by_begin_[block.begin] = std::move(block);
}

bool Blocks::remove(u64 begin) {
    const std::unique_lock lock(mutex_);
    return by_begin_.erase(begin) > 0;
}

bool Blocks::set_synchronous(u64 begin, bool on) {
    const std::unique_lock lock(mutex_);
    const auto at = by_begin_.find(begin);
    if (at == by_begin_.end())
        return false;
    at->second.synchronous = on;
    return true;
}

bool Blocks::overlaps(u64 begin, u64 size) const {
    const std::shared_lock lock(mutex_);
    auto at = by_begin_.lower_bound(begin);
    if (at != by_begin_.end() && at->first - begin < size)
        return true;
    return at != by_begin_.begin() && begin - (--at)->first < at->second.size;
}

u64 Blocks::left(u64 address) const {
    const std::shared_lock lock(mutex_);
    auto at = by_begin_.upper_bound(address);
    if (at == by_begin_.begin())
        return 0;
    --at;
    u64 end = at->first + at->second.size;
    if (address >= end)
        return 0;
    for (++at; at != by_begin_.end() && at->first == end; ++at)
        end += at->second.size;
    return end - address;
}

std::vector<Block> Blocks::of_device(int ordinal) const {
    const std::shared_lock lock(mutex_);
    std::vector<Block> found;
    for (const auto &[begin, block] : by_begin_)
        if (block.device == ordinal)
            found.push_back(block);
    return found;
}

std::vector<Block> Blocks::of_host() const {
    const std::shared_lock lock(mutex_);
    std::vector<Block> found;
    for (const auto &[begin, block] : by_begin_)
        if (block.kind == Block::Kind::host || block.kind == Block::Kind::managed)
            found.push_back(block);
    return found;
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
