// SPDX-License-Identifier: MIT
#include "check/crowd.h"

#include <numeric>
#include <vector>

namespace nw::check {

constexpr u64 row = 2048; // words of 16 bits: LDS has room for eight workgroups of it
constexpr u32 rounds_of_device = 8, workgroups_of_wgp = 8, launches_ahead = 4;

Crowd::Crowd(const hip::Device &device)
    : device_(device), modules_(device), stream_(device.stream()) {
    const u64 rows = device.info().simulated
                         ? 4 // each costs the host's time
                         : u64{device.info().wgps} * workgroups_of_wgp * rounds_of_device;
    std::vector<u32> order(row);
    std::iota(order.rbegin(), order.rend(), 0u);
    order_ = device.allocate(4 * row);
    order_.upload(order.data(), 4 * row);
    rows_ = device.allocate(2 * rows * 2 * row);
    rows_.fill(1);
    op_ = Op{.kind = OpKind::permute_a};
    op_.m = rows, op_.k = row;
    op_.a = address(rows_.data()), op_.perm = address(order_.data());
    op_.y = op_.a + rows * 2 * row;
    thread_ = std::thread([this] { run(); });
}

Crowd::~Crowd() {
    stop_ = true;
    thread_.join();
}

// An error shows in the checked kernel's own calls, too.
void Crowd::run() try {
    while (!stop_) {
        for (u32 i = 0; i < launches_ahead; ++i)
            launch(modules_, op_, stream_);
        stream_.synchronize();
    }
} catch (const std::exception &) {
}

} // namespace nw::check
