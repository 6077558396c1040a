// SPDX-License-Identifier: MIT
// Work of a command, and what it uses of the units that concurrent commands share.
#pragma once
#include <array>

#include "sim/timing/constants/part.h"
#include "sim/timing/result.h"

namespace nw::sim::timing {

enum class Shared : u8 { slots, valu, trans, salu, lds, dram, to_device, to_host, link, count };

// Shares of the units while the command runs alone; 1: all of it.
using Shares = std::array<f64, static_cast<size_t>(Shared::count)>;

struct Work {
    f64 us = 0; // alone, without the launch
    Shares shares{};
};

// How bytes move: `within` the device they are read and written, `fill` writes only; `host` moves
// nothing that a device does.
enum class Transfer : u8 { host, to_device, to_host, within, fill };

Work transfer_work(const Part &part, Transfer kind, u64 bytes); // T-082
Work kernel_work(const Part &part, const Result &result);

} // namespace nw::sim::timing
