// SPDX-License-Identifier: MIT
// Access rights of devices' kernels to blocks: the owner; all, for memory shared with the host;
// peers, through hipDeviceEnablePeerAccess or a pool's access.
#pragma once
#include <mutex>
#include <set>
#include <utility>

#include "sim/hip/memory/blocks.h"

namespace nw::hipsim {

class Device;
class Runtime;

class Sharing {
public:
    explicit Sharing(Runtime &runtime) : runtime_(runtime) {}

    // Registers the block, for hipMemcpy and for the kernels that may access it.
    void publish(Block block);
    // For kernels only.
    void reveal(const Block &block);
    // Unregisters it. False when another thread was faster.
    bool withdraw(const Block &block);
    // Registers the device, with the memory that all devices may access.
    void introduce(std::shared_ptr<Device> device);
    // For kernels only: hipFreeAsync removes a block for the caller at once, for kernels in order.
    // `by`, if given, is what later uses by kernels come after in their reports.
    void conceal(const Block &block, const std::string &by = {});

    bool peer_enabled(int accessor, int owner) const;
    bool enable_peer(int accessor, int owner);  // false: already enabled
    bool disable_peer(int accessor, int owner); // false: not enabled
    // Applies a pool's change of access to one of its blocks.
    void set_access(const Block &block, int accessor, bool allowed);

private:
    bool may_touch(int accessor, const Block &block) const;
    static void let(Device &accessor, const Block &block, bool allowed, const std::string &by = {});

    Runtime &runtime_;
    mutable std::recursive_mutex mutex_;  // makes "check access, add the block" atomic
    std::set<std::pair<int, int>> peers_; // accessor, owner
};

} // namespace nw::hipsim
