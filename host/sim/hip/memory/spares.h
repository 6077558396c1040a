// SPDX-License-Identifier: MIT
// A pool's unused memory: what hipFreeAsync gave back. An allocation of the same size takes it
// again, on a stream that is ordered after the free. Kernels fault on it meanwhile, and what they
// find in it later is uninitialised.
#pragma once
#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "sim/hip/memory/blocks.h"

namespace nw::hipsim {

class Stream;

struct Spare {
    u64 begin = 0, bytes = 0;
    std::set<std::weak_ptr<const Stream>, std::owner_less<>>
        after;                 // streams ordered after the free
    bool free = false;         // the stream has reached the free
    std::optional<Block> next; // taken again before that
};

class Spares {
public:
    explicit Spares(int device) : device_(device) {}

    // At the call of hipFreeAsync, and when its stream gets there. `by`: hipFreeAsync.
    std::shared_ptr<Spare> add(const Block &freed, const std::shared_ptr<Stream> &stream);
    void reached(Spare &spare, const Block &freed, const std::string &by);

    // Makes `wanted` of memory of its size and publishes it; null when there is none. With
    // `any_stream`, also of memory that the stream isn't ordered after, if it is free by now.
    void *take(Block wanted, const std::shared_ptr<Stream> &stream, bool any_stream);
    // `later` has waited for an event of `earlier`.
    void order(const std::shared_ptr<Stream> &earlier, const std::shared_ptr<Stream> &later);
    // Releases free memory until `hold` bytes are left.
    void trim(u64 hold);
    // The pool is destroyed: nothing is kept any more.
    void close();

    u64 bytes() const { return bytes_; }

private:
    void release(const Spare &spare);

    const int device_;
    std::mutex mutex_;
    std::list<std::shared_ptr<Spare>> spares_; // oldest first
    std::atomic<u64> bytes_ = 0;
    bool closed_ = false;
};

} // namespace nw::hipsim
