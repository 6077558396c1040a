// SPDX-License-Identifier: MIT
#include "sim/func/memory.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace nw::sim {

namespace {

constexpr u64 alignment = 256;
constexpr u64 guard = 4096; // bytes before and after, that no kernel may reach
constexpr u64 max_bytes = u64{1} << 46;

} // namespace

struct Memory::Impl {
    struct Entry {
        Allocation allocation;
        void *block = nullptr; // what to free; null for adopted memory
    };
    mutable std::shared_mutex mutex;
    std::map<u64, Entry> entries; // by begin
    u64 in_use = 0;
    u64 next_id = 1;
    std::atomic<u64> generation{1};

    void add(u64 begin, u64 size, void *block) {
        std::unique_lock lock(mutex);
        entries[begin] = {{begin, size, next_id++}, block};
        in_use += block ? size : 0;
        ++generation;
    }

    bool remove(u64 begin, bool owned) {
        void *block = nullptr;
        {
            std::unique_lock lock(mutex);
            auto it = entries.find(begin);
            if (it == entries.end() || (it->second.block != nullptr) != owned)
                return false;
            block = it->second.block;
            in_use -= owned ? it->second.allocation.size : 0;
            entries.erase(it);
            ++generation;
        }
        std::free(block);
        return true;
    }
};

Memory::Memory() : impl_(std::make_unique<Impl>()) {}

Memory::~Memory() {
    for (auto &[begin, entry] : impl_->entries)
        std::free(entry.block);
}

void *Memory::allocate(u64 bytes) {
    if (bytes > max_bytes)
        return nullptr;
    auto block =
        static_cast<std::byte *>(std::aligned_alloc(guard, round_up(bytes + 2 * guard, guard)));
    if (!block)
        return nullptr;
    static_assert(guard % alignment == 0);
    impl_->add(reinterpret_cast<u64>(block + guard), bytes, block);
    return block + guard;
}

bool Memory::release(void *p) { return p && impl_->remove(reinterpret_cast<u64>(p), true); }

void Memory::adopt(void *p, u64 bytes) { impl_->add(reinterpret_cast<u64>(p), bytes, nullptr); }

bool Memory::disown(void *p) { return p && impl_->remove(reinterpret_cast<u64>(p), false); }

Allocation Memory::find(u64 address) const {
    std::shared_lock lock(impl_->mutex);
    auto above = impl_->entries.upper_bound(address);
    if (above == impl_->entries.begin())
        return {};
    const Allocation a = std::prev(above)->second.allocation;
    return address - a.begin < a.size ? a : Allocation{};
}

Allocation Memory::nearest(u64 address) const {
    std::shared_lock lock(impl_->mutex);
    if (impl_->entries.empty())
        return {};
    auto above = impl_->entries.upper_bound(address);
    if (above == impl_->entries.begin())
        return above->second.allocation;
    const Allocation below = std::prev(above)->second.allocation;
    const u64 end = below.begin + below.size;
    const bool below_is_nearer = above == impl_->entries.end() || address < end ||
                                 address - end < above->second.allocation.begin - address;
    return below_is_nearer ? below : above->second.allocation;
}

u64 Memory::bytes_in_use() const {
    std::shared_lock lock(impl_->mutex);
    return impl_->in_use;
}

u64 Memory::generation() const { return impl_->generation.load(std::memory_order_acquire); }

} // namespace nw::sim
