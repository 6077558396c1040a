// SPDX-License-Identifier: MIT
// All measurements for a device by name; a group is measured by one launch or a few.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "hip/hip.h"
#include "measure/micro/row.h"
#include "runtime/modules.h"

namespace nw::micro {

struct Settings {
    u32 passes = 16;          // of each piece of code that reads the clock: 1..32
    u32 repeats = 5;          // of each launch that the host times
    u64 bytes = 512ull << 20; // that a stream reads
    u64 seed = 1;             // of the walks
};

// Settings for a card, or for the simulated GPU, whose times do not vary but take long.
Settings settings_for(const hip::DeviceInfo &);

// One call of `run` measures one row for each name, in this order.
struct Group {
    std::string title; // the kernel
    std::vector<std::string> names;
    std::function<std::vector<Row>(Modules &)> run;
};

std::vector<Group> plan(const hip::DeviceInfo &, const Settings &);

// The parts of it, by family of kernels.
void add_rates(std::vector<Group> &, const hip::DeviceInfo &, const Settings &);
void add_clocks(std::vector<Group> &, const hip::DeviceInfo &, const Settings &);
void add_shares(std::vector<Group> &, const hip::DeviceInfo &, const Settings &);
void add_lanes(std::vector<Group> &, const hip::DeviceInfo &, const Settings &);
void add_chases(std::vector<Group> &, const hip::DeviceInfo &, const Settings &);
void add_walks(std::vector<Group> &, const hip::DeviceInfo &, const Settings &);
void add_streams(std::vector<Group> &, const hip::DeviceInfo &, const Settings &);
void add_launches(std::vector<Group> &, const hip::DeviceInfo &, const Settings &);

} // namespace nw::micro
