// SPDX-License-Identifier: MIT
#include "sim/func/memory/memory.h"

#include <atomic>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <sys/mman.h>
#include <utility>

#include "sim/func/memory/written.h"

namespace nw::sim {

namespace {

constexpr u64 alignment = 256;
constexpr u64 guard = 4096; // bytes before and after each allocation, unmapped for kernels
constexpr u64 max_bytes = u64{1} << 46;

// Emulated device addresses: whole pages, large ones for large allocations. A launch's own memory
// comes from a small ring.
constexpr u64 small_page = u64{64} << 10, large_page = u64{2} << 20;
constexpr u64 ring_slots = 256, first_page = large_page;
constexpr u64 first_of_host = u64{1} << 40; // host memory does not move the device's

// Limits on released allocations: how many are remembered, and how many bytes are kept from reuse.
constexpr size_t remembered = 256;
constexpr u64 max_kept = u64{64} << 20, max_kept_each = u64{16} << 20;

// Sizes for which the host may map large pages: the first use of many small pages takes longer than
// the kernel that touches them. Larger allocations are often reserved, and then hardly touched.
constexpr u64 least_in_large_pages = u64{4} << 20, most_in_large_pages = u64{1} << 30;

} // namespace

struct Memory::Impl {
    struct Entry {
        Origin origin;
        void *block = nullptr; // what to free; null for adopted memory
        std::shared_ptr<void> backing = {};
        std::unique_ptr<Written> written = {}; // what origin.written points to

        void watch() {
            written = std::make_unique<Written>(origin.begin, origin.size);
            origin.written = written.get();
        }
    };
    mutable std::shared_mutex mutex;
    std::map<u64, Entry> entries; // by begin
    std::map<u64, Entry> shelved; // by begin
    std::deque<Entry> released;   // oldest first; block is null once freed to the host
    u64 kept = 0;                 // total size of released blocks that aren't freed
    u64 in_use = 0;
    u64 next_id = 1;
    std::atomic<u64> generation{1};
    std::atomic<bool> watches{false};

    u64 next_place = first_page + ring_slots * small_page, next_of_host = first_of_host;
    u64 next_slot = 0;

    static u64 place(u64 size, u64 &next) {
        const u64 page = size < large_page ? small_page : large_page;
        const u64 at = round_up(next, page);
        next = at + round_up(size + 1, page);
        return at;
    }
    u64 ring_place() { return first_page + next_slot++ % ring_slots * small_page; }

    void add(u64 begin, u64 size, void *block, std::string maker, bool read_only,
             bool of_host = false) {
        std::unique_lock lock(mutex);
        u64 &next = of_host ? next_of_host : next_place;
        const u64 device = read_only && size <= small_page ? ring_place() : place(size, next);
        entries[begin] = {{{begin, size, next_id++, device, read_only}, std::move(maker), {}},
                          block};
        in_use += block ? size : 0;
        ++generation;
    }

    bool remove(u64 begin, bool owned, std::string by) {
        std::unique_lock lock(mutex);
        auto it = entries.find(begin);
        if (it == entries.end() || (it->second.block != nullptr) != owned)
            return false;
        Entry entry = std::move(it->second);
        entries.erase(it);
        ++generation;
        entry.backing.reset();
        if (owned)
            in_use -= entry.origin.size;
        const bool is_launchs = owned && entry.origin.read_only; // nobody can keep its address
        if (!is_launchs && (owned || !by.empty()))
            remember(std::move(entry), std::move(by));
        else
            std::free(entry.block);
        return true;
    }

    bool shelve(u64 begin, std::string by) {
        const std::unique_lock lock(mutex);
        auto node = entries.extract(begin);
        if (!node)
            return false;
        ++generation;
        node.mapped().origin.freed_by = std::move(by);
        shelved.insert(std::move(node));
        return true;
    }

    bool renew(u64 begin, std::string maker) {
        const std::unique_lock lock(mutex);
        auto node = shelved.extract(begin);
        if (!node)
            return false;
        ++generation;
        Origin &origin = node.mapped().origin;
        const u64 device = place(origin.size, next_place);
        origin = {{begin, origin.size, next_id++, device, false}, std::move(maker), {}};
        if (node.mapped().written)
            node.mapped().watch();
        entries.insert(std::move(node));
        return true;
    }

    bool discard(u64 begin) {
        const std::unique_lock lock(mutex);
        auto node = shelved.extract(begin);
        if (!node)
            return false;
        Entry entry = std::move(node.mapped());
        entry.backing.reset();
        in_use -= entry.origin.size;
        std::string by = entry.origin.freed_by;
        remember(std::move(entry), std::move(by));
        return true;
    }

    void remember(Entry entry, std::string by) {
        entry.origin.freed_by = by.empty() ? "its owner" : std::move(by);
        entry.origin.written = nullptr;
        entry.written.reset();
        kept += entry.block ? entry.origin.size : 0;
        if (entry.origin.size > max_kept_each)
            give_back(entry);
        released.push_back(std::move(entry));
        for (size_t n = 0; kept > max_kept; ++n)
            give_back(released[n]);
        if (released.size() > remembered) {
            give_back(released.front());
            released.pop_front();
        }
    }

    void give_back(Entry &entry) {
        if (!entry.block)
            return;
        std::free(std::exchange(entry.block, nullptr));
        kept -= entry.origin.size;
    }
};

Memory::Memory() : impl_(std::make_unique<Impl>()) {}

Memory::~Memory() {
    for (auto *const all : {&impl_->entries, &impl_->shelved})
        for (auto &[begin, entry] : *all) {
            entry.backing.reset();
            std::free(entry.block);
        }
    for (Impl::Entry &entry : impl_->released)
        std::free(entry.block);
}

void *Memory::allocate(u64 bytes, std::string maker, bool read_only) {
    if (bytes > max_bytes)
        return nullptr;
    const u64 whole = round_up(bytes + 2 * guard, guard);
    auto block = static_cast<std::byte *>(std::aligned_alloc(guard, whole));
    if (!block)
        return nullptr;
    if (whole >= least_in_large_pages && whole <= most_in_large_pages)
        madvise(block, whole, MADV_HUGEPAGE); // a wish: it may fail
    static_assert(guard % alignment == 0);
    impl_->add(reinterpret_cast<u64>(block + guard), bytes, block, std::move(maker), read_only);
    return block + guard;
}

bool Memory::release(void *p, std::string by) {
    return p && impl_->remove(reinterpret_cast<u64>(p), true, std::move(by));
}

bool Memory::shelve(void *p, std::string by) {
    return impl_->shelve(reinterpret_cast<u64>(p), std::move(by));
}
bool Memory::renew(void *p, std::string maker) {
    return impl_->renew(reinterpret_cast<u64>(p), std::move(maker));
}
bool Memory::discard(void *p) { return impl_->discard(reinterpret_cast<u64>(p)); }

void Memory::adopt(void *p, u64 bytes, std::string maker, bool of_host) {
    impl_->add(reinterpret_cast<u64>(p), bytes, nullptr, std::move(maker), false, of_host);
}

bool Memory::disown(void *p, std::string by) {
    return p && impl_->remove(reinterpret_cast<u64>(p), false, std::move(by));
}

bool Memory::hold(void *p, std::shared_ptr<void> backing) {
    const std::unique_lock lock(impl_->mutex);
    const auto entry = impl_->entries.find(reinterpret_cast<u64>(p));
    if (entry == impl_->entries.end() || !entry->second.block)
        return false;
    entry->second.backing = std::move(backing);
    return true;
}

void Memory::watch_writes(void *p) {
    const std::unique_lock lock(impl_->mutex);
    const auto entry = impl_->entries.find(reinterpret_cast<u64>(p));
    if (entry == impl_->entries.end())
        return;
    entry->second.watch();
    impl_->watches = true;
    ++impl_->generation;
}
bool Memory::watches_writes() const { return impl_->watches.load(std::memory_order_relaxed); }

void Memory::copied(u64 address, const Memory *source, u64 from, u64 bytes) {
    if (!watches_writes())
        return;
    if (Written *const to = find(address).written)
        to->add_copied(address, source ? source->find(from).written : nullptr, from, bytes);
}

Allocation Memory::find(u64 address) const {
    std::shared_lock lock(impl_->mutex);
    auto above = impl_->entries.upper_bound(address);
    if (above == impl_->entries.begin())
        return {};
    const Allocation &a = std::prev(above)->second.origin;
    return a.holds(address) ? a : Allocation{};
}

Origin Memory::nearest(u64 address) const {
    std::shared_lock lock(impl_->mutex);
    if (impl_->entries.empty())
        return {};
    auto above = impl_->entries.upper_bound(address);
    if (above == impl_->entries.begin())
        return above->second.origin;
    const Origin &below = std::prev(above)->second.origin;
    const u64 end = below.begin + below.size;
    const bool below_is_nearer = above == impl_->entries.end() || address < end ||
                                 address - end < above->second.origin.begin - address;
    return below_is_nearer ? below : above->second.origin;
}

Origin Memory::released_at(u64 address) const {
    std::shared_lock lock(impl_->mutex);
    if (const auto above = impl_->shelved.upper_bound(address); above != impl_->shelved.begin())
        if (const Origin &below = std::prev(above)->second.origin; below.holds(address))
            return below;
    for (auto entry = impl_->released.rbegin(); entry != impl_->released.rend(); ++entry)
        if (entry->origin.holds(address))
            return entry->origin;
    return {};
}

u64 Memory::bytes_in_use() const {
    std::shared_lock lock(impl_->mutex);
    return impl_->in_use;
}

u64 Memory::generation() const { return impl_->generation.load(std::memory_order_acquire); }

u64 Memory::launch_slot() const {
    const std::shared_lock lock(impl_->mutex);
    return impl_->next_slot;
}
void Memory::set_launch_slot(u64 slot) {
    const std::unique_lock lock(impl_->mutex);
    impl_->next_slot = slot;
}

} // namespace nw::sim
