// SPDX-License-Identifier: MIT
#include "sim/func/memory/written.h"

#include <algorithm>
#include <new>
#include <sys/mman.h>

namespace nw::sim {

namespace {

constexpr u64 word_bits = 64;

u64 low_bits(u64 count) { return count >= word_bits ? ~u64{0} : (u64{1} << count) - 1; }

} // namespace

// Pages that nobody touches take no memory, and read as 0.
Written::Written(u64 begin, u64 size)
    : begin_(begin), size_(size),
      mapped_(std::max<u64>(8, (size + word_bits - 1) / word_bits * sizeof(u64))) {
    void *const at = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        throw std::bad_alloc();
    bits_ = static_cast<std::atomic<u64> *>(at);
}

Written::~Written() { munmap(bits_, mapped_); }

void Written::add(u64 address, u64 bytes) {
    if (address - begin_ >= size_ || all_.load(std::memory_order_relaxed))
        return;
    u64 at = address - begin_;
    bytes = std::min(bytes, size_ - at);
    if (bytes == size_)
        return all_.store(true, std::memory_order_relaxed);
    while (bytes) {
        const u64 first = at % word_bits, count = std::min(bytes, word_bits - first);
        const u64 mask = low_bits(count) << first;
        if ((word(at).load(std::memory_order_relaxed) & mask) != mask)
            word(at).fetch_or(mask, std::memory_order_relaxed);
        at += count;
        bytes -= count;
    }
}

void Written::add_copied(u64 address, const Written *from, u64 source, u64 bytes) {
    if (!from)
        return add(address, bytes);
    for (u64 done = 0; done < bytes; done += word_bits) {
        const u64 count = std::min(bytes - done, word_bits);
        u64 good = ~from->missing(source + done, count) & low_bits(count);
        while (good) { // run by run
            const auto first = static_cast<u64>(__builtin_ctzll(good));
            const u64 rest = good >> first;
            const u64 run = ~rest ? static_cast<u64>(__builtin_ctzll(~rest)) : word_bits;
            add(address + done + first, run);
            good &= ~(low_bits(run) << first);
        }
    }
}

u64 Written::missing(u64 address, u64 bytes) const {
    if (address - begin_ >= size_ || all_.load(std::memory_order_relaxed))
        return 0;
    const u64 at = address - begin_, first = at % word_bits;
    bytes = std::min({bytes, word_bits, size_ - at});
    u64 there = word(at).load(std::memory_order_relaxed) >> first;
    if (first + bytes > word_bits)
        there |= word(at + word_bits).load(std::memory_order_relaxed) << (word_bits - first);
    return ~there & low_bits(bytes);
}

} // namespace nw::sim
