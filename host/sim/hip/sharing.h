// SPDX-License-Identifier: MIT
// Which devices' kernels may touch a block: its own; all, when host and device share it; peers,
// when hipDeviceEnablePeerAccess or a pool's access says so.
#pragma once
#include <mutex>
#include <set>
#include <utility>

#include "sim/hip/blocks.h"

namespace nw::hipsim {

class Device;
class Runtime;

class Sharing {
public:
    explicit Sharing(Runtime &runtime) : runtime_(runtime) {}

    // The block exists from here on: for hipMemcpy, and for the kernels that may touch it.
    void publish(Block block);
    // The opposite. False when another thread was faster.
    bool withdraw(const Block &block);
    // The device exists from here on, with what all may touch.
    void introduce(std::shared_ptr<Device> device);
    // Only for kernels: hipFreeAsync takes a block from the caller at once, from kernels in order.
    void conceal(const Block &block);

    bool peer_enabled(int accessor, int owner) const;
    bool enable_peer(int accessor, int owner);  // false: it was
    bool disable_peer(int accessor, int owner); // false: it was not
    // What a pool's change of access means for a block of it.
    void set_access(const Block &block, int accessor, bool allowed);

private:
    bool may_touch(int accessor, const Block &block) const;
    static void let(Device &accessor, const Block &block, bool allowed);

    Runtime &runtime_;
    mutable std::recursive_mutex mutex_;  // "look who may, add the block" is a single step
    std::set<std::pair<int, int>> peers_; // accessor, owner
};

} // namespace nw::hipsim
